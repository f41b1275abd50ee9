export type TypeKind =
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'typeParam'
  | 'uint';

/** A type of the language. */
export interface CelType {
  readonly kind: TypeKind;
  /** How the type is written in expressions; for structs and opaque types it is their identity. */
  readonly name: string;
  /** The element of a list, key and value of a map, the content of an optional or of a type. */
  readonly params: readonly CelType[];
}

const plain = (kind: TypeKind, name: string): CelType => ({ kind, name, params: [] });

export const ANY = plain('any', 'google.protobuf.Any');
export const BOOL = plain('bool', 'bool');
export const BYTES = plain('bytes', 'bytes');
export const DOUBLE = plain('double', 'double');
export const DURATION = plain('duration', 'google.protobuf.Duration');
export const DYN = plain('dyn', 'dyn');
export const ERROR = plain('error', 'error');
export const INT = plain('int', 'int');
export const NULL = plain('null', 'null_type');
export const STRING = plain('string', 'string');
export const TIMESTAMP = plain('timestamp', 'google.protobuf.Timestamp');
export const TYPE = plain('type', 'type');
export const UINT = plain('uint', 'uint');

const OPTIONAL_NAME = 'optional_type';

export function listOf(element: CelType): CelType {
  return { kind: 'list', name: 'list', params: [element] };
}

export function mapOf(key: CelType, value: CelType): CelType {
  return { kind: 'map', name: 'map', params: [key, value] };
}

export function typeOf(type: CelType): CelType {
  return { kind: 'type', name: 'type', params: [type] };
}

export function optionalOf(type: CelType): CelType {
  return { kind: 'opaque', name: OPTIONAL_NAME, params: [type] };
}

export function structOf(name: string): CelType {
  return plain('struct', name);
}

export function opaqueOf(name: string, ...params: CelType[]): CelType {
  return { kind: 'opaque', name, params };
}

export function paramOf(name: string): CelType {
  return plain('typeParam', name);
}

export function isDyn(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'any';
}

export function isOptional(type: CelType): boolean {
  return type.kind === 'opaque' && type.name === OPTIONAL_NAME;
}

/** Returns the content of an optional type, or the type itself with `false`. */
export function unwrapOptional(type: CelType): readonly [CelType, boolean] {
  return isOptional(type) ? [type.params[0] ?? DYN, true] : [type, false];
}

/** Compares two types, names and parameters included. */
export function isSameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  return (
    a.kind === b.kind &&
    a.name === b.name &&
    a.params.length === b.params.length &&
    a.params.every((param, index) => isSameType(param, b.params[index] ?? ERROR))
  );
}

/** Writes a type as error messages of cel-go do (`checker.FormatCELType`). */
export function formatType(type: CelType): string {
  switch (type.kind as string) {
    case 'any':
      return 'any';
    case 'duration':
      return 'duration';
    case 'error':
      return '!error!';
    case 'null':
      return 'null';
    case 'timestamp':
      return 'timestamp';
    default:
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(', ')})`;
  }
}

/** Writes a type as cel-go's `Type.String` does. */
export function typeText({ name, params }: CelType): string {
  return params.length === 0 ? name : `${name}(${params.map(typeText).join(', ')})`;
}

/** Writes the arguments of a call; the first one is the receiver of a member call. */
export function formatSignature(args: readonly CelType[], isMember: boolean): string {
  const [target] = args;
  const rest = (isMember ? args.slice(1) : args).map(formatType).join(', ');
  return isMember && target !== undefined ? `${formatType(target)}.(${rest})` : `(${rest})`;
}
