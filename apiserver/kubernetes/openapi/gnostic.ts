import { WIRE, WireWriter } from '../../../shared/protobuf/wire-writer';
import { jsonText } from '../../engine/encoding/document';
import type { BaseDocument, Members } from './base-document';
import { baseDocument } from './base-document';
import type { DocumentOptions, Served } from './documents';
import type { FieldForm, GnosticMessage } from './gnostic-fields';
import {
  API_KEY,
  BODY_PARAMETER,
  DOCUMENT,
  INFO,
  OPERATION,
  PATH_ITEM,
  PATH_PARAMETER,
  QUERY_PARAMETER,
  RESPONSE,
  SCHEMA,
} from './gnostic-fields';
import type { Entries } from './swagger';
import { SWAGGER_SECURITY, swaggerHead, swaggerPortions } from './swagger';
import type { ReadonlyJson } from '../../../shared/object/json';

/** Encodes the OpenAPI v2 document of the built-in API in gnostic's Protobuf form, which kubectl reads. */
export async function swaggerProtobuf(registry: Served, options: DocumentOptions): Promise<BaseDocument> {
  const writer = new WireWriter();
  writeMessage(writer, DOCUMENT, { ...swaggerHead(options.version), ...SWAGGER_SECURITY });
  const head = writer.take();
  const paths: Buffer[] = [];
  const definitions: Buffer[] = [];
  for await (const portion of swaggerPortions(registry, options)) {
    if ('paths' in portion) paths.push(encodeEntries(writer, 'path items', portion.paths));
    else definitions.push(encodeEntries(writer, 'schemas', portion.definitions));
  }
  return baseDocument(
    (length) => [
      Buffer.concat([head, opening('paths', length.paths)]),
      opening('definitions', length.definitions),
      Buffer.alloc(0),
    ],
    { paths: Buffer.concat(paths), definitions: Buffer.concat(definitions) },
  );
}

/** Encodes paths and definitions that are appended to others. */
export function moreSwaggerProtobuf(paths: Entries, definitions: Entries): Members {
  const writer = new WireWriter();
  return {
    paths: encodeEntries(writer, 'path items', paths),
    definitions: encodeEntries(writer, 'schemas', definitions),
  };
}

function encodeEntries(writer: WireWriter, form: 'path items' | 'schemas', entries: Entries): Buffer {
  writeNamed(writer, form, Object.fromEntries(entries));
  return writer.take();
}

/** Returns the tag and length prefix of a message. */
function opening(name: 'paths' | 'definitions', lengthBytes: number): Buffer {
  const [number] = DOCUMENT.fields[name] ?? [0];
  const writer = new WireWriter();
  writer.uint32(lengthBytes);
  writer.tag(number, WIRE.bytes);
  return writer.take();
}

/** The writer works backwards, so every field here is written in reverse order. */
function writeMessage(writer: WireWriter, message: GnosticMessage, value: object): void {
  for (const [key, each] of Object.entries(value).toReversed()) {
    if (key.startsWith('x-') && message.extensions !== undefined) {
      const mark = writer.length;
      nested(writer, 2, () => {
        writeAny(writer, each);
      });
      writeText(writer, 1, key);
      writer.delimit(message.extensions, mark);
      continue;
    }
    const field = message.fields[key];
    if (field === undefined) throw new Error(`no field for ${key} in the Protobuf form of OpenAPI`);
    writeField(writer, field, each);
  }
}

type Write = (writer: WireWriter, number: number, value: unknown) => void;

function writeField(writer: WireWriter, [number, form]: readonly [number, FieldForm], value: unknown): void {
  WRITES[form](writer, number, value);
}

const WRITES: Readonly<Record<FieldForm, Write>> = {
  text: writeText,
  texts: (writer, number, value) => {
    for (const text of (value as readonly string[]).toReversed()) writeText(writer, number, text);
  },
  flag: (writer, number, value) => {
    writer.uint32(value === true ? 1 : 0);
    writer.tag(number, WIRE.varint);
  },
  number: (writer, number, value) => {
    writer.double(Number(value));
    writer.tag(number, WIRE.fixed64);
  },
  integer: (writer, number, value) => {
    writer.int64(value as number | bigint);
    writer.tag(number, WIRE.varint);
  },
  any: (writer, number, value) => {
    nested(writer, number, () => {
      writeAny(writer, value);
    });
  },
  anys: (writer, number, value) => {
    for (const each of (value as readonly unknown[]).toReversed()) WRITES.any(writer, number, each);
  },
  type: (writer, number, value) => {
    nested(writer, number, () => {
      writeText(writer, 1, value);
    });
  },
  schema: messageOf(SCHEMA),
  'wrapped schema': (writer, number, value) => {
    nested(writer, number, () => {
      messageOf(SCHEMA)(writer, 1, value);
    });
  },
  'schema or flag': (writer, number, value) => {
    if (typeof value !== 'boolean') WRITES['wrapped schema'](writer, number, value);
    else
      nested(writer, number, () => {
        WRITES.flag(writer, 2, value);
      });
  },
  'list of schemas': (writer, number, value) => {
    for (const each of (value as readonly unknown[]).toReversed()) WRITES.schema(writer, number, each);
  },
  schemas: namedField('schemas'),
  'path items': namedField('path items'),
  responses: namedField('responses'),
  parameters: (writer, number, value) => {
    for (const each of (value as readonly ReadonlyJson[]).toReversed()) {
      nested(writer, number, () => {
        writeParameter(writer, each);
      });
    }
  },
  operation: messageOf(OPERATION),
  info: messageOf(INFO),
  security: (writer, number, value) => {
    for (const each of (value as readonly ReadonlyJson[]).toReversed()) {
      nested(writer, number, () => {
        writeNamed(writer, 'requirements', each);
      });
    }
  },
  'security definitions': namedField('security definitions'),
};

function messageOf(message: GnosticMessage): Write {
  return (writer, number, value) => {
    nested(writer, number, () => {
      writeMessage(writer, message, value as object);
    });
  };
}

/** Named values: the field number of the entry in its message, and the encoding of the value (field 2 of the entry). */
const NAMED = {
  schemas: { number: 1, write: messageOf(SCHEMA) },
  'path items': { number: 2, write: messageOf(PATH_ITEM) },
  responses: {
    number: 1,
    write: (writer, number, value) => {
      nested(writer, number, () => {
        messageOf(RESPONSE)(writer, 1, value);
      });
    },
  },
  requirements: {
    number: 1,
    write: (writer, number, value) => {
      nested(writer, number, () => {
        WRITES.texts(writer, 1, value);
      });
    },
  },
  'security definitions': {
    number: 1,
    write: (writer, number, value) => {
      nested(writer, number, () => {
        messageOf(API_KEY)(writer, 2, value);
      });
    },
  },
} as const satisfies Readonly<Record<string, { readonly number: number; readonly write: Write }>>;

function namedField(form: keyof typeof NAMED): Write {
  return (writer, number, value) => {
    nested(writer, number, () => {
      writeNamed(writer, form, value as ReadonlyJson);
    });
  };
}

function writeNamed(writer: WireWriter, form: keyof typeof NAMED, values: ReadonlyJson): void {
  const { number, write } = NAMED[form];
  for (const [name, value] of Object.entries(values).toReversed()) {
    const mark = writer.length;
    write(writer, 2, value);
    writeText(writer, 1, name);
    writer.delimit(number, mark);
  }
}

/** A parameter is a oneof: the body is one variant, and all others are a variant of the other. */
function writeParameter(writer: WireWriter, parameter: ReadonlyJson): void {
  const place = parameter['in'];
  nested(writer, 1, () => {
    if (place === 'body') {
      messageOf(BODY_PARAMETER)(writer, 1, parameter);
      return;
    }
    nested(writer, 2, () => {
      if (place === 'path') messageOf(PATH_PARAMETER)(writer, 4, parameter);
      else messageOf(QUERY_PARAMETER)(writer, 3, parameter);
    });
  });
}

/** JSON is valid YAML. */
function writeAny(writer: WireWriter, value: unknown): void {
  writeText(writer, 2, jsonText(value));
}

function writeText(writer: WireWriter, number: number, value: unknown): void {
  const mark = writer.length;
  writer.string(String(value));
  writer.delimit(number, mark);
}

function nested(writer: WireWriter, number: number, write: () => void): void {
  const mark = writer.length;
  write();
  writer.delimit(number, mark);
}
