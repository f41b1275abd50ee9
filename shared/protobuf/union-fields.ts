import type { MessageType } from '../schema/types';

/** Field numbers of a message that carries a schema union; 0 for absent forms. */
export interface UnionNumbers {
  readonly schema: number;
  readonly schemas: number;
  readonly strings: number;
  readonly allows: number;
  readonly schemaType: MessageType;
}

export function unionNumbers(union: MessageType): UnionNumbers {
  const numberOf = (name: string): number => union.byName.get(name)?.number ?? 0;
  const schemaType = union.byName.get('schema')?.message;
  if (schemaType === undefined) throw new Error(`${union.name} has no schema`);
  return {
    schema: numberOf('schema'),
    schemas: numberOf('jSONSchemas'),
    strings: numberOf('property'),
    allows: numberOf('allows'),
    schemaType,
  };
}
