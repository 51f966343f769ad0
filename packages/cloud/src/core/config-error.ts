export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(`the configuration is wrong:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
    this.name = "ConfigError";
  }
}
