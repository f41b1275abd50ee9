import { fieldsOf } from '../../../../shared/object/accessors';
import type { UserInfo } from '../../request/exchange';
import type { TokenReviewResult } from '../../registry/operation';

interface WrittenResult {
  readonly isKnown: boolean;
  readonly user: UserInfo;
  readonly audiences: readonly string[];
  readonly why: string;
}

/** Parses a result that a replica shared. Returns undefined if any field is malformed, because nothing may be guessed. */
export function parseResult(value: unknown): TokenReviewResult | undefined {
  const { isKnown, user, audiences, why } = fieldsOf<WrittenResult>(value);
  if (isKnown === false) return why === '' ? { isKnown, why } : undefined;
  if (isKnown !== true || !areTexts(audiences)) return undefined;
  const { name, uid, groups, extra } = fieldsOf<UserInfo>(user);
  const extras = Object.entries(fieldsOf<Readonly<Record<string, unknown>>>(extra));
  const isWhole = typeof name === 'string' && name !== '' && typeof uid === 'string' && areTexts(groups);
  if (!isWhole || !extras.every((entry): entry is [string, readonly string[]] => areTexts(entry[1]))) {
    return undefined;
  }
  return { isKnown, user: { name, uid, groups, extra: Object.fromEntries(extras) }, audiences };
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
