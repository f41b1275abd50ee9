const VARIABLE = /\$\((\w+)\)/gu;

/** Expands `$(NAME)` in a flag's value by environment variables: other users of the machine see the arguments of a process. */
export function expandVariables(text: string): string {
  return text.replaceAll(VARIABLE, (written, name: string) => process.env[name] ?? written);
}

/** Returns what is wrong with the Redis address of a flag, which may be empty. The texts do not contain the address, which may have a password. */
export function redisUrlErrors(flag: string, text: string): readonly string[] {
  const [missing] = expandVariables(text).match(VARIABLE) ?? [];
  if (missing !== undefined) return [`--${flag} names the variable ${missing}, which is not set`];
  return text === '' || /^rediss?:\/\//u.test(expandVariables(text))
    ? []
    : [`--${flag} must begin with rediss:// or redis://`];
}
