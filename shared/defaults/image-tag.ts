/**
 * Grammar of image references without the registry: a path of lower-case components, an optional tag, an
 * optional digest.
 */
const COMPONENT = String.raw`[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*`;
const REFERENCE = new RegExp(
  String.raw`^${COMPONENT}(?:/${COMPONENT})*(?::(?<tag>\w[\w.-]{0,127}))?(?<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);
const LABEL = String.raw`(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`;
const REGISTRY = new RegExp(String.raw`^${LABEL}(?:\.${LABEL})*(?::[0-9]+)?$`);
/** A bare image ID is not a reference. */
const IDENTIFIER = /^[a-f0-9]{64}$/;
const REFERENCE_CHARS_MAX = 512;

/** Returns the tag of an image reference: `latest` without tag and digest, empty for an invalid reference. */
export function imageTag(image: string): string {
  if (image.length > REFERENCE_CHARS_MAX || IDENTIFIER.test(image)) return '';
  const path = withoutRegistry(image);
  const groups = path === undefined ? undefined : REFERENCE.exec(path)?.groups;
  if (groups === undefined) return '';
  return groups['tag'] ?? (groups['digest'] === undefined ? 'latest' : '');
}

/**
 * Removes the registry: the first component if it looks like a host. Returns undefined for a malformed host.
 */
function withoutRegistry(image: string): string | undefined {
  const slash = image.indexOf('/');
  const host = image.slice(0, Math.max(slash, 0));
  if (!/[.:]/.test(host) && host !== 'localhost') return image;
  return REGISTRY.test(host) ? image.slice(slash + 1) : undefined;
}
