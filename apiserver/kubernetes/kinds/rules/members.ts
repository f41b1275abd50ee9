import type { FieldError } from '../../../../shared/errors/field-error';
import { keysOf } from '../../../../shared/object/accessors';
import type { Rule } from './primitives';

/** Messages whose fields are alternatives, such as the sources of a volume: which of them are there, and what is wrong with each. */

/** A rule for each alternative of a message, in the order in which they are looked at. */
export type MemberRules<Message> = {
  readonly [Name in keyof Message]?: Rule<NonNullable<Message[Name]>>;
};

/** The names of the alternatives that are there. */
export function membersOf<Message extends object>(
  message: Message,
  rules: MemberRules<Message>,
): readonly (keyof Message & string)[] {
  return keysOf<MemberRules<Message>>(rules).filter((name) => isPresent(message[name]));
}

/** What is wrong with one alternative; nothing where it is not there. */
export function memberErrors<Message>(
  message: Message,
  name: keyof Message,
  rules: MemberRules<Message>,
  path: string,
): readonly FieldError[] {
  const member = message[name];
  return isPresent(member) ? (rules[name]?.(member, path) ?? []) : [];
}

function isPresent<Value>(value: Value): value is NonNullable<Value> {
  return value !== undefined && value !== null;
}
