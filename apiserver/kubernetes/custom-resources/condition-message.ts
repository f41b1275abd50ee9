/** Upstream's schema limits condition messages to this length. A longer message would make the status update of the definition fail. */
const MESSAGE_CHARS_MAX = 32 * 1024;

/** Formats several problems as the message of one condition, without duplicates. Problems that exceed the limit are only counted. */
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
