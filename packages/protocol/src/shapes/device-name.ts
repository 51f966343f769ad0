/** This stands apart from the contract, for programs that check a name without loading all of the contract. */
/** A name is not `.` or `..`, which no path can carry. */
export const deviceNamePattern = /^(?!\.{1,2}$)[A-Za-z0-9_.-]+$/;
export const MAX_DEVICE_NAME_LENGTH = 100;
