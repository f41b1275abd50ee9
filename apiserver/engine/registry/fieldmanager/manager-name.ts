/** Maximum length of a manager name in bytes. */
export const MANAGER_BYTES_MAX = 128;

const UNKNOWN_MANAGER = 'unknown';

const NOT_PRINTABLE = /[\p{C}\p{Z}]/u;

/**
 * The manager of a request: `fieldManager`, else the printable part of its user agent before the first
 * slash, else `unknown`.
 */
export function managerOf(fieldManager: string, userAgent: string): string {
  if (fieldManager !== '') return fieldManager;
  let name = '';
  for (const character of userAgent.split('/', 1)[0] ?? '') {
    if (character !== ' ' && NOT_PRINTABLE.test(character)) continue;
    if (Buffer.byteLength(name) + Buffer.byteLength(character) > MANAGER_BYTES_MAX) break;
    name += character;
  }
  return name === '' ? UNKNOWN_MANAGER : name;
}
