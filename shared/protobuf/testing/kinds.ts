import type { MessageType } from '../../schema/types';
import { messageNames, messageType } from '../../schema/types';

/** Returns the messages of all kinds. */
export function kindMessages(): readonly string[] {
  return messageNames().filter((name) => messageType(name).typeMeta);
}

/** Removes kind and apiVersion of embedded objects, which Protobuf does not carry. */
export function withoutTypeMeta(type: MessageType, object: Record<string, unknown>): Record<string, unknown> {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  const copy = type.typeMeta ? rest : { ...object };
  for (const field of type.fields) {
    const { message } = field;
    const value = copy[field.name];
    if (message === undefined || field.kind !== 'message' || typeof value !== 'object' || value === null)
      continue;
    const one = (each: unknown): unknown => withoutTypeMeta(message, each as Record<string, unknown>);
    if (field.list) copy[field.name] = (value as unknown[]).map(one);
    else if (field.map) {
      copy[field.name] = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, one(each)]));
    } else copy[field.name] = one(value);
  }
  return copy;
}
