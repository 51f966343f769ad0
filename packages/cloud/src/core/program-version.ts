/** The version of this program, as its packages have it. */
export const PROGRAM_VERSION = "0.1.0";
