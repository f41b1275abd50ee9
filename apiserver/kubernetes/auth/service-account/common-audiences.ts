import { unauthorized } from '../../../engine/authn/authenticator';

/** For which of the audiences asked about a token is good, in their order. Throws Unauthorized, with both lists, if for none. */
export function commonAudiences(meantFor: readonly string[], asked: readonly string[]): readonly string[] {
  const audiences = asked.filter((each) => meantFor.includes(each));
  if (audiences.length > 0) return audiences;
  const why = `token audiences ${goList(meantFor)} is invalid for the target audiences ${goList(asked)}`;
  throw unauthorized(why);
}

/** A list of texts as Go quotes it. */
function goList(texts: readonly string[]): string {
  return `[${texts.map((each) => JSON.stringify(each)).join(' ')}]`;
}
