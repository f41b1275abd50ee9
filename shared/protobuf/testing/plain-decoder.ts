import { SCHEMA_DATA } from '../../api/tables';

/**
 * A second decoder of the wire format for tests. It reads the tables directly and shares nothing with the
 * codec. It is slow and trusts its input. Absent fields are absent, zero values are present.
 */
export function plainDecode(message: string, bytes: Buffer): Record<string, unknown> {
  const dot = message.lastIndexOf('.');
  const fields = Object.entries(SCHEMA_DATA[message.slice(0, dot)]![message.slice(dot + 1)]!.fields);
  const object: Record<string, unknown> = {};
  for (const [number, values] of wireFields(bytes)) {
    const found = fields.find(([, data]) => data.n === number);
    if (found === undefined) throw new Error(`${message} has no field ${number}`);
    const [name, data] = found;
    if (data.inline) Object.assign(object, plainDecode(data.t, values[0] as Buffer));
    else if (data.map)
      object[name] = Object.fromEntries(values.map((entry) => mapEntry(data.t, entry as Buffer)));
    else if (data.list) object[name] = values.map((value) => plainValue(data.t, value));
    else object[name] = plainValue(data.t, values[0]!);
  }
  return object;
}

type WireValue = bigint | Buffer;

/** Returns the values by field number, in the order of the wire. */
export function wireFields(bytes: Buffer): Map<number, WireValue[]> {
  const fields = new Map<number, WireValue[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    let value: WireValue;
    if (tag % 8 === 0) value = varint();
    else {
      const length = tag % 8 === 1 ? 8 : Number(varint());
      value = bytes.subarray(at, at + length);
      at += length;
    }
    const number = Math.floor(tag / 8);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

function mapEntry(type: string, entry: Buffer): [string, unknown] {
  const fields = wireFields(entry);
  return [String(fields.get(1)![0]), plainValue(type, fields.get(2)![0]!)];
}

function plainValue(type: string, value: WireValue): unknown {
  if (typeof value === 'bigint') return type === 'bool' ? value === 1n : Number(BigInt.asIntN(64, value));
  const inner = (): Map<number, WireValue[]> => wireFields(value);
  switch (type) {
    case 'string':
      return value.toString();
    case 'bytes':
      return value.toString('base64');
    case 'double':
      return value.readDoubleLE();
    case 'Quantity':
      return String(inner().get(1)![0]);
    case 'Time':
    case 'MicroTime': {
      const seconds = Number(inner().get(1)![0]);
      const nanos = Number(inner().get(2)![0]);
      const text = new Date(seconds * 1000).toISOString().slice(0, 19);
      return type === 'Time' ? `${text}Z` : `${text}.${String(nanos / 1000).padStart(6, '0')}Z`;
    }
    case 'IntOrString':
      return inner().get(1)![0] === 0n ? Number(inner().get(2)![0]) : String(inner().get(3)![0]);
    case 'RawExtension':
    case 'FieldsV1':
      return JSON.parse(String(inner().get(1)![0]));
    default:
      return plainMessage(type, value);
  }
}

function plainMessage(type: string, value: Buffer): unknown {
  const inner = wireFields(value);
  const [, shortName] = type.split('.');
  if (shortName === 'JSON') return JSON.parse(String(inner.get(1)![0]));
  if (shortName === 'ExtraValue' || shortName === 'Verbs') return (inner.get(1) ?? []).map(String);
  const [packageName] = type.split('.');
  if (shortName === 'JSONSchemaPropsOrBool') return inner.get(1)![0] === 1n;
  if (shortName === 'JSONSchemaPropsOrStringArray') return inner.get(2)!.map(String);
  if (shortName === 'JSONSchemaPropsOrArray') {
    return inner.get(2)!.map((each) => plainDecode(`${packageName}.JSONSchemaProps`, each as Buffer));
  }
  return plainDecode(type, value);
}
