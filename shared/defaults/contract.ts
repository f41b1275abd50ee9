import type { Json } from '../conversion/json';

/** What the server fills in where a client left something out of one message. Both parts are pure. */
export interface MessageDefaults {
  /** For fields that are absent or hold empty text. */
  readonly values?: Json;
  /** Members that follow from others; runs behind `values`. Undefined or an empty object: none. */
  readonly derive?: (object: Json) => Json | undefined;
}

/** By the message's name (`core/v1.Pod`). A message's defaults come before those of the messages in it. */
export type DefaultsTable = Readonly<Record<string, MessageDefaults>>;
