/** What steps cost, in upstream's units (cel-go `common/cost.go`). */
export const COST = {
  selectOrIdent: 1,
  createList: 10,
  createMap: 30,
  createStruct: 40,
} as const;

/** Units for each character of a string that is read once. */
export const STRING_FACTOR = 0.1;
/** Units for each character of a pattern, for each unit of the string. */
export const PATTERN_FACTOR = 0.25;
/** An authorization check; two of them fit into one expression (k8s.io/apiserver `cel/library/cost.go`). */
export const AUTHORIZATION_CHECK = 350_000;
/** The shortest requirement of a selector that needs memory of its own is two characters long. */
export const REQUIREMENTS_PER_CHARACTER = 0.5;
/** The longest pattern of a named format, which stands for all of them in estimates. */
export const FORMAT_PATTERN_LENGTH = 128;
/** The largest size of a named format in comparisons. */
export const FORMAT_SIZE_MAX = 64;
