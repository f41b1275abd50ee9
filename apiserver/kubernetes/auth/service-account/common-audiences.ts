import { unauthorized } from '../../../engine/authn/authenticator';

/** Returns the requested audiences that the token is valid for, in order. Throws Unauthorized with both lists if there is none. */
export function commonAudiences(meantFor: readonly string[], asked: readonly string[]): readonly string[] {
  const audiences = asked.filter((each) => meantFor.includes(each));
  if (audiences.length > 0) return audiences;
  const why = `token audiences ${goList(meantFor)} is invalid for the target audiences ${goList(asked)}`;
  throw unauthorized(why);
}

/** Formats a list as Go's `%q` does. */
function goList(texts: readonly string[]): string {
  return `[${texts.map((each) => JSON.stringify(each)).join(' ')}]`;
}
