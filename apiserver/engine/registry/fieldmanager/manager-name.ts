/** A manager's name is at most this long. */
export const MANAGER_BYTES_MAX = 128;

const UNKNOWN_MANAGER = 'unknown';

const NOT_PRINTABLE = /[\p{C}\p{Z}]/u;

/** The manager of a request: `fieldManager`, else the printable beginning of its user agent, up to the first slash; `unknown` if that is nothing. */
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
