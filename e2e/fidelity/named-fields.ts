import type { FieldType, MessageType } from '../../shared/schema/types';

/** Whether the field path of a cause (`spec.containers[0].image`, `metadata.labels[a.b/c]`) exists in a type. */
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
