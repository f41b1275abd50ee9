/** Upstream's schema of conditions has room for so many characters, and what is said of a large schema must not keep its definition from being stored. */
const MESSAGE_CHARS_MAX = 32 * 1024;

/** Several problems in the message of one condition, each once. Those that there is no room for are counted. */
export function problemsMessage(problems: readonly string[]): string {
  const [first = '', ...others] = new Set(problems);
  if (others.length === 0) return first.slice(0, MESSAGE_CHARS_MAX);
  let text = first.slice(0, MESSAGE_CHARS_MAX);
  for (const [index, problem] of others.entries()) {
    if (text.length + problem.length > MESSAGE_CHARS_MAX) {
      return `[${text}, and ${String(others.length - index)} more]`;
    }
    text += `, ${problem}`;
  }
  return `[${text}]`;
}
