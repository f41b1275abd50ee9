import { deepEqual } from '../../../../shared/object/clone';
import { kindMessages, withoutTypeMeta } from '../../../../shared/protobuf/testing/kinds';
import { parseGroupVersion } from '../../../../shared/api/resources';
import { repeatedKeys } from '../../../../shared/meta/repeated-keys';
import { decodeProtobuf } from '../../../../shared/protobuf/decode';
import { encodeProtobuf } from '../../../../shared/protobuf/encode';
import { unwrapEnvelope, wrapEnvelope } from '../../../../shared/protobuf/envelope';
import { DecodeError, decodeJson, decodeObject, JSON_DEPTH_MAX } from '../../../../shared/schema/decode';
import { encodeObject } from '../../../../shared/schema/encode';
import { jsonSyntaxProblem } from '../../../../shared/schema/json-syntax';
import { filledObject } from '../../../../shared/schema/testing/samples';
import type { MessageType } from '../../../../shared/schema/types';
import { messageType, messageTypeOfKind } from '../../../../shared/schema/types';
import { duplicateYamlKeys, parseYaml, yamlOf } from '../../../engine/encoding/yaml';
import { mutateBytes } from '../mutators/mutate-bytes';
import { mutateJson } from '../mutators/mutate-json';
import { asNumbers, frozen, holds, refusable } from '../refusable';
import type { Target } from '../target';

const JSON_WORDS = [
  'null',
  'true',
  'false',
  '{}',
  '[]',
  '""',
  '\\u0000',
  '\\ud800',
  '"__proto__":',
  ',',
  ':',
  '1e999',
  '\u2028',
];
const YAML_WORDS = [
  '&a ',
  '*a',
  '<<: ',
  '? ',
  '- ',
  '|',
  '>-',
  '!!binary ',
  '!!map',
  '---\n',
  '...',
  '%YAML 1.1\n',
  '\t',
  '~',
  'yes',
  '0o7',
  '0x',
  '.inf',
  '1_0',
  '2021-01-01',
  '#',
  "''",
  '"\\x41"',
  '\u0085',
];

/** How large the kinds are whose filled objects are first inputs; larger ones take too long for what they add. */
const SAMPLE_BYTES_MAX = 6_000;

/** What a client sends as the body of a write. */
export const DOCUMENT_TARGETS: readonly Target[] = [
  {
    name: 'json',
    corpus: 'json',
    words: JSON_WORDS,
    mutators: [mutateBytes, mutateBytes, mutateJson],
    runs: 1_000,
    open: () => ({ check: checkJson }),
  },
  {
    name: 'yaml',
    corpus: 'yaml',
    words: YAML_WORDS,
    mutators: [mutateBytes],
    runs: 500,
    open: () => ({ check: checkYaml }),
  },
  {
    name: 'yaml-of-json',
    corpus: 'json',
    words: JSON_WORDS,
    mutators: [mutateBytes, mutateJson],
    runs: 500,
    open: () => ({ check: checkYamlOfJson }),
  },
  {
    name: 'object',
    corpus: 'objects',
    made: () => samples().map((sample) => Buffer.from(JSON.stringify(sample))),
    words: ['1', 'x', '1Gi', '2021-04-08T16:31:21Z', '50%', 'AQID', 'metadata', 'spec'],
    mutators: [mutateJson],
    runs: 350,
    open: () => ({ check: checkObject }),
  },
  {
    name: 'protobuf',
    corpus: 'protobuf',
    made: () => samples().map(envelopeOf),
    words: ['k8s\0', '\x0a\x00', '\x12\x80\x80\x80\x80\x08', '\x0b\x0c', 'Pod', 'v1'],
    mutators: [mutateBytes],
    runs: 1_500,
    open: () => ({ check: checkProtobuf }),
  },
];

function checkJson(input: Buffer): void {
  const text = input.toString('utf8');
  const reference = parsedByNode(text);
  const own = refusable(() => decodeJson(input), DecodeError);
  const problem = jsonSyntaxProblem(input);
  holds(
    (reference === undefined) === (problem !== undefined),
    'a syntax problem is found where JSON.parse finds one',
    problem ?? 'none',
    text,
  );
  if (reference === undefined) {
    holds(own === undefined, 'what is no JSON is refused', text);
    return;
  }
  if (own === undefined) {
    holds(depthOf(reference.value) > JSON_DEPTH_MAX || hasInfinite(reference.value), 'JSON is read', text);
    return;
  }
  holds(
    deepEqual(withReplacements(asNumbers(own.value)), withReplacements(reference.value)),
    'values are those of JSON.parse',
    text,
  );
  const repeats = keysIn(text) > keyCount(reference.value);
  holds(repeatedKeys(text, 10).length > 0 === repeats, 'repeated keys are found where there are any', text);
  const again = decodeJson(encodeValue(own.value));
  holds(sameNumbers(again, own.value), 'a value is the same after it was written and read', text);
}

/** Lone surrogates become U+FFFD, of which JSON.parse and the decoder may see different numbers in invalid UTF-8. */
function withReplacements(value: unknown): unknown {
  const text = JSON.stringify(value).replaceAll(/(?<!\\)((?:\\\\)*)\\ud[89a-f]../g, '$1\ufffd');
  return JSON.parse(text.replaceAll(/\ufffd+/g, '\ufffd'));
}

function checkYaml(input: Buffer): void {
  const own = refusable(() => parseYaml(input), DecodeError);
  if (own === undefined) return;
  duplicateYamlKeys(input);
  const depth = depthOf(own.value);
  holds(depth <= JSON_DEPTH_MAX, 'nothing is nested deeper than JSON may be', depth);
  const again = refusable(() => parseYaml(Buffer.from(yamlOf(own.value))), DecodeError);
  holds(again !== undefined || depth > YAML_WRITTEN_DEPTH_MAX, 'what was written is read', own.value);
  if (again !== undefined)
    holds(
      sameNumbers(again.value, own.value),
      'a value is the same after it was written and read',
      own.value,
      yamlOf(own.value),
    );
  const json = refusable(() => decodeJson(encodeValue(own.value)), DecodeError);
  holds(
    json !== undefined && sameNumbers(json.value, own.value),
    'the same value goes through JSON',
    own.value,
  );
}

/** A value that JSON nests so deep may be nested too deep for the reader of YAML. */
const YAML_WRITTEN_DEPTH_MAX = 200;

/** JSON is YAML, but for what the two say about numbers and odd characters. */
function checkYamlOfJson(input: Buffer): void {
  const text = input.toString('utf8');
  const json = refusable(() => decodeJson(input), DecodeError);
  if (json === undefined || depthOf(json.value) > YAML_WRITTEN_DEPTH_MAX) return;
  const yaml = refusable(() => parseYaml(Buffer.from(yamlOf(json.value))), DecodeError);
  holds(
    yaml !== undefined && sameNumbers(yaml.value, json.value),
    'a JSON value is the same in YAML',
    text,
    yaml?.value,
  );
  const direct = refusable(() => parseYaml(input), DecodeError);
  if (direct === undefined) return;
  const repeats = repeatedKeys(text, 10);
  if (/\t|[^\x20-\x7e\n]/.test(text)) {
    duplicateYamlKeys(input);
    return;
  }
  holds(
    duplicateYamlKeys(input).length > 0 === repeats.length > 0,
    'YAML finds the repeated keys that JSON finds',
    text,
    repeats,
    duplicateYamlKeys(input),
  );
}

function checkObject(input: Buffer): void {
  const value = refusable(() => decodeJson(input), DecodeError);
  if (value === undefined) return;
  const type = typeOf(value.value);
  const decoded = refusable(
    () => decodeObject(type, frozen(value.value), { unknown: 'report' }),
    DecodeError,
  );
  if (decoded === undefined) return;
  const once = decoded.value.object;
  const bytes = encodeObject(once);
  const twice = decodeObject(type, decodeJson(bytes)).object;
  holds(encodeObject(twice).equals(bytes), 'what was read once stays as it is', bytes, encodeObject(twice));
  checkThroughYaml(type, once, bytes);
  checkThroughProtobuf(type, once);
}

function checkThroughYaml(type: MessageType, object: object, bytes: Buffer): void {
  if (depthOf(object) > YAML_WRITTEN_DEPTH_MAX) return;
  const yaml = parseYaml(Buffer.from(yamlOf(object)));
  const back = encodeObject(decodeObject(type, yaml).object);
  const wanted = encodeObject(decodeObject(type, decodeJson(bytes)).object);
  holds(deepEqual(decodeJson(back), decodeJson(wanted)), 'an object is the same in YAML', back, wanted);
}

function checkThroughProtobuf(type: MessageType, object: object): void {
  const raw = encodeProtobuf(type, object);
  const read = refusable(() => canonical(type, decodeProtobuf(type, raw)), DecodeError);
  if (read === undefined) {
    holds(depthOf(object) > PROTOBUF_WRITTEN_DEPTH_MAX, 'Protobuf that was written is read', object);
    return;
  }
  const again = encodeProtobuf(type, read.value);
  holds(again.equals(raw), 'Protobuf that was read is written the same', object, read.value);
}

const PROTOBUF_WRITTEN_DEPTH_MAX = 200;

function checkProtobuf(input: Buffer): void {
  const envelope = refusable(() => unwrapEnvelope(input), DecodeError)?.value;
  if (envelope === undefined) return;
  const type = typeOf(envelope);
  const read = refusable(() => canonical(type, decodeProtobuf(type, envelope.raw)), DecodeError)?.value;
  if (read === undefined) return;
  const raw = encodeProtobuf(type, read);
  const again = refusable(() => canonical(type, decodeProtobuf(type, raw)), DecodeError)?.value;
  if (again === undefined) {
    holds(depthOf(read) > PROTOBUF_WRITTEN_DEPTH_MAX, 'Protobuf that was written is read', read);
    return;
  }
  holds(encodeProtobuf(type, again).equals(raw), 'Protobuf is stable once it was read', read, again);
  const json = refusable(() => decodeObject(type, decodeJson(encodeObject(read))), DecodeError);
  if (json !== undefined)
    holds(
      encodeObject(canonical(type, json.value.object)).equals(encodeObject(read)),
      'the same object goes through JSON',
      read,
    );
}

function canonical(type: MessageType, value: object): Record<string, unknown> {
  return withoutTypeMeta(type, decodeObject(type, value).object as Record<string, unknown>);
}

/** The type that a document names, or Pod. */
function typeOf(value: unknown): MessageType {
  const { kind = '', apiVersion = '' } = (typeof value === 'object' && value !== null ? value : {}) as {
    kind?: unknown;
    apiVersion?: unknown;
  };
  const known =
    typeof kind === 'string' && typeof apiVersion === 'string'
      ? messageTypeOfKind({ ...parseGroupVersion(apiVersion), kind })
      : undefined;
  return known ?? messageType('core/v1.Pod');
}

/** One filled object of each kind that is not very large. */
function samples(): readonly Record<string, unknown>[] {
  return kindMessages().flatMap((name) => {
    const type = messageType(name);
    const sample = { ...filledObject(type), ...typeMetaOf(name) };
    return JSON.stringify(sample).length > SAMPLE_BYTES_MAX ? [] : [sample];
  });
}

function typeMetaOf(name: string): { readonly kind: string; readonly apiVersion: string } {
  const [packageName = '', kind = ''] = name.split('.');
  const [group = '', version = ''] = packageName.split('/');
  return { kind, apiVersion: group === 'core' ? version : `${group}/${version}` };
}

function envelopeOf(sample: Record<string, unknown>): Buffer {
  const type = typeOf(sample);
  const raw = encodeProtobuf(type, decodeObject(type, sample).object);
  return wrapEnvelope({ kind: String(sample['kind']), apiVersion: String(sample['apiVersion']), raw });
}

function parsedByNode(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** The JSON of any value that came from JSON. */
function encodeValue(value: unknown): Buffer {
  const whole = encodeObject({ value }).toString('utf8');
  return Buffer.from(whole.slice('{"value":'.length, -1));
}

function sameNumbers(a: unknown, b: unknown): boolean {
  return deepEqual(asNumbers(a), asNumbers(b));
}

export function depthOf(value: unknown): number {
  let depth = 0;
  let level: readonly unknown[] = [value];
  for (;;) {
    level = level.filter((each) => typeof each === 'object' && each !== null);
    if (level.length === 0) return depth;
    depth += 1;
    level = level.flatMap((each) => Object.values(each as object) as readonly unknown[]);
  }
}

function hasInfinite(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(hasInfinite);
}

/** Strings before a colon in a valid document. */
function keysIn(text: string): number {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:)?/g)].filter(([, colon]) => colon !== undefined).length;
}

function keyCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const children = Object.values(value).reduce((sum: number, each) => sum + keyCount(each), 0);
  return children + (Array.isArray(value) ? 0 : Object.keys(value).length);
}
