import type { Part } from '../object/object';
import type { MessageTypes } from '../api/types/message-types';

/** Whether a feature gate is on, as the operator has set it. */
export type IsOn = (gate: string) => boolean;

/** Defaults of one message. Both parts are pure. */
export interface MessageDefaults<T extends object = object> {
  /** Values of fields that are absent or an empty string. */
  readonly values?: Part<T>;
  /** Computes fields from others; runs after `values`. Undefined or an empty object changes nothing. */
  readonly derive?: (object: T, isOn: IsOn) => Part<T> | undefined;
}

/** Defaults by message (`core/v1.Pod`). They are applied before those of nested messages. */
export type DefaultsTable = {
  readonly [Name in keyof MessageTypes]?: MessageDefaults<MessageTypes[Name]>;
};
