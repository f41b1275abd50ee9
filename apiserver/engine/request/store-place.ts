import { badRequest } from '../../../shared/errors/status-error';

/** Where one object is stored. */
export interface StorePlace {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Throws BadRequest for a name or namespace that is no valid key segment. Upstream’s store checks it, so callers
 * check it after everything that does not need the object.
 */
export function refuseImpossiblePlace(place: StorePlace): void {
  keepSegment('Name', place.name);
  keepSegment('Namespace', place.namespace);
}

/** The same, and throws if a namespaced resource has no namespace. */
export function refuseIncompletePlace(
  { row }: { readonly row: { readonly namespaced: boolean } },
  place: StorePlace,
): void {
  if (row.namespaced && place.namespace === '') throw namespaceRequired();
  refuseImpossiblePlace(place);
}

export function namespaceRequired(): Error {
  return badRequest('Namespace parameter required.');
}

function keepSegment(what: string, text: string): void {
  if (!NO_SEGMENT.test(text)) return;
  const illegal = ['/', '%'].filter((character) => text.includes(character));
  const why =
    illegal.length === 0
      ? `may not be '${text}'`
      : `may not contain '${illegal.join("', may not contain '")}'`;
  throw badRequest(`${what} parameter invalid: ${JSON.stringify(text)}: ${why}`);
}

const NO_SEGMENT = /^\.{1,2}$|[/%]/;
