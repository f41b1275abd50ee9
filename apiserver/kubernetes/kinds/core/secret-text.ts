import type { Secret } from '../../../../shared/api/types/core-v1';

/** A Secret with its `stringData` where it belongs. Text wins over data under the same key; the order of the fields is kept. */
export function secretTextAsData(secret: Secret): Secret {
  const { stringData, data, type, ...rest } = secret;
  if (stringData === undefined) return secret;
  const encoded = Object.fromEntries(
    Object.entries(stringData).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  );
  const all = { ...data, ...encoded };
  return {
    ...rest,
    ...(Object.keys(all).length === 0 ? {} : { data: all }),
    ...(type === undefined ? {} : { type }),
  };
}
