import { ownKeyMap } from '../../own-key-map';
import type { FieldKind, FieldType, MessageType } from '../types';
import { ByteWalk } from './byte-walk';
import { goItemTypeName, goTypeName } from './go-names';
import { goJsonType } from './scalar-words';

/**
 * What Go's own reader says of the JSON of a schema that stands where something else may stand, too, such as `items`: upstream reads what
 * is inside with that one. `union` is the message of such a value. Undefined where it says nothing: what is neither of the two counts as none.
 */
export function schemaUnionWords(json: Buffer, kind: FieldKind, union: MessageType): string | undefined {
  const problem = readUnion(new ByteWalk(json), kind, union);
  if (problem === undefined || 'words' in problem) return problem?.words;
  const { value, goType, place } = problem;
  const where =
    place.names.length === 0
      ? 'Go value'
      : `Go struct field ${place.struct}.${place.names.slice(0, NAMES_MAX).join('.')}`;
  return `json: cannot unmarshal ${value} into ${where} of type ${goType}`;
}

/** So many names take less room than the document they stand in. */
const NAMES_MAX = 1_000;

/** The struct that a field belongs to, with the names of all fields on the way to it. */
interface Place {
  readonly struct: string;
  readonly names: readonly string[];
}

const NOWHERE: Place = { struct: '', names: [] };

type Problem =
  | { readonly words: string }
  /** A value that does not fit its type. */
  | { readonly value: string; readonly goType: string; readonly place: Place };

/** What is read, where, and how Go calls its type. */
interface Slot {
  readonly field: FieldType;
  readonly place: Place;
  readonly goType: string;
}

function readUnion(walk: ByteWalk, kind: FieldKind, union: MessageType): Problem | undefined {
  const schema = union.byName.get('schema')?.message;
  const next = peek(walk);
  if (next === '{' && schema !== undefined) return readStruct(walk, schema, NOWHERE);
  if (kind === 'schemaOrBool') {
    if (next !== 'n' && next !== 't' && next !== 'f') return { words: 'boolean or JSON schema expected' };
  } else if (next === '[' && schema !== undefined) {
    const item = (): Problem | undefined =>
      kind === 'schemaOrArray'
        ? readObject(walk, goTypeName(schema), NOWHERE, () => readStruct(walk, schema, NOWHERE))
        : readScalar(walk, 'string', { goType: 'string', place: NOWHERE });
    return readItems(walk, item);
  }
  walk.skip();
  return undefined;
}

function readStruct(walk: ByteWalk, type: MessageType, { names }: Place): Problem | undefined {
  const struct = type.name.slice(type.name.lastIndexOf('.') + 1);
  return readEntries(walk, (name) => {
    const field = type.byName.get(name);
    if (field === undefined) {
      walk.skip();
      return undefined;
    }
    const place = { struct, names: [...names, name] };
    return readField(walk, { field, place, goType: goTypeOf(type, field) });
  });
}

function readField(walk: ByteWalk, { field, place, goType }: Slot): Problem | undefined {
  if (walk.takesNull()) return undefined;
  const value = (): Problem | undefined => readValue(walk, { field, place, goType });
  if (field.list) {
    if (peek(walk) !== '[') return mismatch(walk, `[]${goType}`, place);
    return readItems(walk, value);
  }
  if (!field.map) return value();
  const mapType = NAMED_MAP.get(field.name);
  const prefix = goType.slice(0, goType.indexOf('.') + 1);
  const goMap = mapType === undefined ? `map[string]${goType}` : prefix + mapType;
  return readObject(walk, goMap, place, () => readEntries(walk, value));
}

function readValue(walk: ByteWalk, { field, place, goType }: Slot): Problem | undefined {
  const { kind, message } = field;
  if (kind.startsWith('schemaOr') && message !== undefined) {
    const problem = readUnion(walk, kind, message);
    // Go names the place where the inner reader was called.
    return problem === undefined || 'words' in problem ? problem : { ...problem, place };
  }
  if (kind === 'message' && message !== undefined) {
    return readObject(walk, goType, place, () => readStruct(walk, message, place));
  }
  return readScalar(walk, kind, { goType, place });
}

function readScalar(
  walk: ByteWalk,
  kind: FieldKind,
  { goType, place }: Omit<Slot, 'field'>,
): Problem | undefined {
  const fits = FITS.get(kind);
  const json = walk.skipped().toString('utf8');
  if (fits === undefined || json === 'null' || fits.test(json)) return undefined;
  const type = goJsonType(json);
  const isOtherNumber = type === 'number' && kind !== 'string' && kind !== 'bool';
  return { value: isOtherNumber ? `number ${json}` : type, goType, place };
}

const FITS = ownKeyMap<RegExp>({
  string: /^"/,
  bool: /^[tf]/,
  int64: /^-?\d{1,18}$/,
  double: /^-?\d/,
});

/** Takes an object by `read`, which begins at its bracket; null is none. */
function readObject(
  walk: ByteWalk,
  goType: string,
  place: Place,
  read: () => Problem | undefined,
): Problem | undefined {
  if (walk.takesNull()) return undefined;
  return peek(walk) === '{' ? read() : mismatch(walk, goType, place);
}

function mismatch(walk: ByteWalk, goType: string, place: Place): Problem {
  return { value: goJsonType(peek(walk)), goType, place };
}

function readEntries(walk: ByteWalk, read: (name: string) => Problem | undefined): Problem | undefined {
  walk.token();
  if (peek(walk) === '}') {
    walk.token();
    return undefined;
  }
  do {
    const problem = read(walk.fieldName() ?? '');
    if (problem !== undefined) return problem;
  } while (walk.token() === ',');
  return undefined;
}

function readItems(walk: ByteWalk, read: () => Problem | undefined): Problem | undefined {
  walk.token();
  if (peek(walk) === ']') {
    walk.token();
    return undefined;
  }
  do {
    const problem = read();
    if (problem !== undefined) return problem;
  } while (walk.token() === ',');
  return undefined;
}

function peek(walk: ByteWalk): string {
  const next = walk.token();
  walk.unread();
  return next;
}

/** How Go calls the type of a value, or of each in a list or map. */
function goTypeOf(type: MessageType, field: FieldType): string {
  const { kind, message, name } = field;
  if (message !== undefined) return goTypeName(message);
  if (name === '$schema') return `${goTypeName(type).split('.')[0] ?? ''}.JSONSchemaURL`;
  return kind === 'double' ? 'float64' : goItemTypeName(type, field);
}

/** Maps that have a name of their own in Go. */
const NAMED_MAP = ownKeyMap<string>({
  definitions: 'JSONSchemaDefinitions',
  dependencies: 'JSONSchemaDependencies',
});
