/** Words that no variable in an expression may be. */
const RESERVED = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var ' +
    'void while'
  ).split(' '),
);

const ESCAPES = new Map([
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
]);

/** Whether a name is reserved; since release 1.31 properties can also be selected by such names as they are. */
export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

/**
 * Returns how a property is named in expressions (k8s.io/apiserver `cel/escaping.go`).
 *
 * @returns undefined for names that cannot be written there
 */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][\w./-]*$/u.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replaceAll(/__|[-./]/gu, (part) => ESCAPES.get(part) ?? part);
}
