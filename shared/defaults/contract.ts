import type { Part } from '../object/object';
import type { MessageTypes } from '../api/types/message-types';

/** What the server fills in where a client left something out of one message. Both parts are pure. */
export interface MessageDefaults<T extends object = object> {
  /** For fields that are absent or hold empty text. */
  readonly values?: Part<T>;
  /** Members that follow from others; runs behind `values`. Undefined or an empty object: none. */
  readonly derive?: (object: T) => Part<T> | undefined;
}

/** By the message's name (`core/v1.Pod`). A message's defaults come before those of the messages in it. */
export type DefaultsTable = {
  readonly [Name in keyof MessageTypes]?: MessageDefaults<MessageTypes[Name]>;
};
