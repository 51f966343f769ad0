export function isFileSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).errno === "number";
}

const words: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "it is not permitted",
  EROFS: "the file system is read-only",
  ENOENT: "it does not exist",
  ENOTDIR: "a part of the path is no directory",
  EISDIR: "it is a directory",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EIO: "the disk reports errors",
  ELOOP: "its symlinks lead in a circle",
  ENAMETOOLONG: "the name is too long",
};

/** Says in words what the system could not do. A code that we have no words for stays as it is. */
export function describeSystemError(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return words[code] ?? message;
}
