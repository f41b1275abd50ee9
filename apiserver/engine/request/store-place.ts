import { badRequest } from '../../../shared/errors/status-error';

/** Where one object is stored. */
export interface StorePlace {
  readonly name: string;
  readonly namespace: string;
}

/**
 * Throws BadRequest for what cannot be a segment of a key. Upstream's store says so, so that whoever reads or writes asks when all that does
 * not need the object is in order.
 */
export function refuseImpossiblePlace(place: StorePlace): void {
  keepSegment('Name', place.name);
  keepSegment('Namespace', place.namespace);
}

/** The same, and for a place without a namespace where there has to be one. */
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
