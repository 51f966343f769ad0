/** Reading a larger file takes many seconds, up to hours: such files wait for each other, and never keep small ones waiting. */
export const LARGE_FILE_BYTES = 1024 ** 3;
