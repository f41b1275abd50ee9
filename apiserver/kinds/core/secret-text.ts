import type { ApplyDefaults } from '../../../shared/defaults/defaults';
import { defaultsOf } from '../../../shared/defaults/defaults';
import type { ApiObject } from '../../../shared/object/object';

/** Kinds with a field that is only ever written: its content belongs into another one, which is what is stored and shown. */
const MOVED: Readonly<Record<string, ApplyDefaults>> = { 'core/v1.Secret': secretTextAsData };

/**
 * What is done to an object of a kind (`core/v1.Secret`) as soon as it is read from a client, before anything compares it with the
 * stored one: fields that are only written go where they belong, and what was left out is filled in. Undefined: nothing is done.
 */
export function completionOf(schema: string): ApplyDefaults | undefined {
  const applyDefaults = defaultsOf(schema);
  const moved = MOVED[schema];
  if (moved === undefined || applyDefaults === undefined) return moved ?? applyDefaults;
  return (object) => applyDefaults(moved(object));
}

/** Text wins over data under the same key. The order of the fields is kept. */
function secretTextAsData(secret: ApiObject): ApiObject {
  const { stringData, data, type, ...rest } = secret;
  if (typeof stringData !== 'object' || stringData === null) return secret;
  const encoded = Object.fromEntries(
    Object.entries(stringData).map(([key, value]) => [
      key,
      Buffer.from(String(value), 'utf8').toString('base64'),
    ]),
  );
  const all = { ...(typeof data === 'object' ? data : {}), ...encoded };
  return {
    ...rest,
    ...(Object.keys(all).length === 0 ? {} : { data: all }),
    ...(type === undefined ? {} : { type }),
  };
}
