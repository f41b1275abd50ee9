import type { FieldType, MessageType } from '../../shared/schema/types';

/** Whether what a cause names (`spec.containers[0].image`, `metadata.labels[a.b/c]`) can be followed through the fields of a type. */
export function namesField(type: MessageType, path: string): boolean {
  let at: MessageType | undefined = type;
  for (const [, name] of path.matchAll(/([^.[\]]+)|\[[^\]]*\]/g)) {
    if (name === undefined) continue;
    const field: FieldType | undefined = at?.fields.find((each) => each.name === name);
    if (field === undefined) return false;
    at = field.kind === 'message' ? field.message : undefined;
  }
  return true;
}
