import type { ApiObject } from '../../../shared/object/object';

/** A Secret with its `stringData` where it belongs. Text wins over data under the same key; the order of the fields is kept. */
export function secretTextAsData(secret: ApiObject): ApiObject {
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
