/** Apart from the contract, for programs that check a name without loading all of that. */
export const deviceNamePattern = /^[A-Za-z0-9_.-]+$/;
export const MAX_DEVICE_NAME_LENGTH = 100;
