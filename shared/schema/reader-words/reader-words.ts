import { canonicalQuantity } from '../../meta/quantity';
import { ownKeyMap } from '../../own-key-map';
import type { FieldType, MessageType } from '../types';
import type { IntegerType } from './byte-walk';
import { ByteWalk } from './byte-walk';
import { goFieldName, goItemTypeName, goTypeName } from './go-names';
import { schemaUnionWords } from './schema-words';
import { base64Words, intOrStringJsonWords, noQuantityWords, timeJsonWords } from './scalar-words';

/** Of a longer document nobody is told more than the decoder found. So many bytes take less than a millisecond, of the first one after a start up to five. */
export const DOCUMENT_BYTES_MAX = 16 * 1_024;

/**
 * What upstream's reader says of JSON that does not fit the message: `v1.ConfigMap.Data: ReadString: expects " or n, but found 1, error found
 * in #10 byte of ...|…|...`. To be asked only when something was found, since it reads the document once more. Undefined where it says nothing,
 * has no short words, or the document is longer than 16 KiB.
 */
export function readerWords(json: Buffer, type: MessageType): string | undefined {
  if (json.length > DOCUMENT_BYTES_MAX) return undefined;
  const walk = new ByteWalk(json);
  readMessage(walk, type);
  return walk.words();
}

/** Takes one value, and reports what does not fit. */
type Read = (walk: ByteWalk) => void;

/** Upstream has a reader of its own for messages of at most so many fields. */
const FEW_FIELDS = 10;

function readMessage(walk: ByteWalk, type: MessageType): void {
  const fields = fieldsOf(type);
  if (fields.size === 0) {
    readNothing(walk);
    return;
  }
  const open = walk.token();
  if (open === 'n') walk.rest('ull');
  else if (open !== '{') walk.report('readObjectStart', `expect { or n, but found ${open}`);
  else if (walk.token() !== '}') {
    walk.unread();
    if (fields.size > FEW_FIELDS) readManyFields(walk, type, fields);
    else readFewFields(walk, type, fields);
  }
}

function readNothing(walk: ByteWalk): void {
  const next = walk.token();
  walk.unread();
  if (next === '{' || next === 'n') walk.skip();
  else walk.report('skipObjectDecoder', 'expect object or null');
}

function readFewFields(walk: ByteWalk, type: MessageType, fields: ReadonlyMap<string, Read>): void {
  for (;;) {
    const read = fields.get(walk.fieldName() ?? '');
    if (read === undefined) walk.skip();
    else read(walk);
    const end = walk.token();
    if (end === ',') continue;
    if (end !== '}') walk.report('isObjectEnd', `object ended prematurely, unexpected char ${end}`);
    break;
  }
  walk.prefix(`${goTypeName(type)}.`);
}

function readManyFields(walk: ByteWalk, type: MessageType, fields: ReadonlyMap<string, Read>): void {
  let end: string;
  do {
    const read = fields.get(walk.text());
    const colon = walk.token();
    if (colon !== ':') walk.report('ReadObject', `expect : after object field, but found ${colon}`);
    if (read === undefined) walk.skip();
    else read(walk);
    end = walk.token();
  } while (end === ',');
  walk.prefix(`${goTypeName(type)}.`);
  if (end !== '}') walk.report('struct Decode', `expect }, but found ${end}`);
}

const known = new WeakMap<MessageType, ReadonlyMap<string, Read>>();

/** What reads each field, by its name in JSON. */
function fieldsOf(type: MessageType): ReadonlyMap<string, Read> {
  const fields = known.get(type) ?? new Map(readersOf(type));
  known.set(type, fields);
  return fields;
}

function readersOf(type: MessageType): (readonly [string, Read])[] {
  const own = type.declared.flatMap((field) => {
    const { message, inline } = field;
    if (!inline || message === undefined) return [[field.name, namedReader(type, field)] as const];
    return readersOf(message).map(
      ([name, read]) => [name, prefixed(read, `${shortName(message)}: `)] as const,
    );
  });
  return type.typeMeta ? [...TYPE_META, ...own] : own;
}

const readText: Read = (walk) => {
  walk.text();
};

const TYPE_META: readonly (readonly [string, Read])[] = [
  ['kind', prefixed(readText, 'TypeMeta: Kind: ')],
  ['apiVersion', prefixed(readText, 'TypeMeta: APIVersion: ')],
];

function shortName({ name }: MessageType): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

function namedReader(type: MessageType, field: FieldType): Read {
  return prefixed(readerOf(type, field), `${goFieldName(type, field.name)}: `);
}

function prefixed(read: Read, prefix: string): Read {
  return (walk) => {
    read(walk);
    walk.prefix(prefix);
  };
}

function readerOf(type: MessageType, field: FieldType): Read {
  const item = itemReader(field);
  if (field.list) {
    const itemType =
      field.kind === 'message' && field.message !== undefined
        ? goTypeName(field.message)
        : goItemTypeName(type, field);
    return listReader(item, `[]${itemType}`);
  }
  if (field.map) return mapReader(item);
  if (!field.pointer) return item;
  return (walk) => {
    if (!walk.takesNull()) item(walk);
  };
}

function itemReader({ kind, message }: FieldType): Read {
  const scalar = SCALARS.get(kind);
  if (scalar !== undefined) return scalar;
  if (message === undefined) return skipValue;
  if (kind.startsWith('schemaOr')) return ownReader((json) => schemaUnionWords(json, kind, message));
  if (kind === 'stringList') return listReader(readText, goTypeName(message));
  if (kind !== 'message') return skipValue;
  return (walk) => {
    readMessage(walk, message);
  };
}

function listReader(read: Read, typeName: string): Read {
  return (walk) => {
    readList(walk, read);
    walk.prefix(`${typeName}: `);
  };
}

function readList(walk: ByteWalk, read: Read): void {
  const open = walk.token();
  if (open === 'n') walk.rest('ull');
  else if (open !== '[') walk.report('decode slice', `expect [ or n, but found ${open}`);
  else if (walk.token() !== ']') {
    walk.unread();
    let end: string;
    do {
      read(walk);
      end = walk.token();
    } while (end === ',');
    if (end !== ']') walk.report('decode slice', `expect ], but found ${end}`);
  }
}

function mapReader(read: Read): Read {
  return (walk) => {
    const open = walk.token();
    if (open === 'n') walk.rest('ull');
    else if (open !== '{') walk.report('ReadMapCB', `expect { or n, but found ${open}`);
    else if (walk.token() !== '}') {
      walk.unread();
      readEntries(walk, read);
    }
  };
}

function readEntries(walk: ByteWalk, read: Read): void {
  let end: string;
  do {
    walk.text();
    const colon = walk.token();
    if (colon !== ':') {
      walk.report('ReadMapCB', `expect : after object field, but found ${colon}`);
      return;
    }
    read(walk);
    end = walk.token();
  } while (end === ',');
  if (end !== '}') walk.report('ReadMapCB', `expect }, but found ${end}`);
}

/** What upstream keeps as it stands, or reads in a way that has no words here. */
const skipValue: Read = (walk) => {
  walk.skipped();
};

function integer(type: IntegerType): Read {
  return (walk) => {
    if (!walk.takesNull()) walk.integer(type);
  };
}

/** A value that a function of its own reads from its JSON. */
function ownReader(wordsOf: (json: Buffer) => string | undefined): Read {
  return (walk) => {
    const json = walk.skipped();
    if (walk.hasProblem) return;
    const words = wordsOf(json);
    if (words !== undefined) walk.report('unmarshalerDecoder', words);
  };
}

function textReader(wordsOf: (json: string) => string | undefined): Read {
  return ownReader((json) => wordsOf(json.toString('utf8')));
}

const BYTES_OF_NUMBERS = listReader(integer({ name: 'ReadUint8', bits: 32, min: 0n, max: 255n }), '[]uint8');

const readBytes: Read = (walk) => {
  if (walk.takesNull()) return;
  const next = walk.token();
  walk.unread();
  if (next === '[') BYTES_OF_NUMBERS(walk);
  else if (next === '"') {
    const words = base64Words(walk.text());
    if (words !== undefined) walk.report('decode base64', words);
  } else walk.report('base64Codec', 'invalid input');
};

function quantityJsonWords(json: string): string | undefined {
  if (json === 'null') return undefined;
  const text = (json.startsWith('"') ? json.slice(1, -1) : json).trim();
  return canonicalQuantity(text) === undefined ? noQuantityWords(text) : undefined;
}

const SCALARS = ownKeyMap<Read>({
  string: readText,
  bool: (walk) => {
    if (!walk.takesNull()) walk.bool();
  },
  int32: integer({ name: 'ReadInt32', bits: 32, min: -(2n ** 31n), max: 2n ** 31n - 1n }),
  int64: integer({ name: 'ReadInt64', bits: 64, min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  double: (walk) => {
    if (!walk.takesNull()) walk.number();
  },
  bytes: readBytes,
  time: textReader((json) => timeJsonWords(json, '2006-01-02T15:04:05Z07:00')),
  microTime: textReader((json) => timeJsonWords(json, '2006-01-02T15:04:05.000000Z07:00')),
  quantity: textReader(quantityJsonWords),
  intOrString: textReader(intOrStringJsonWords),
});
