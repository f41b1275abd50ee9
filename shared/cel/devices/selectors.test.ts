import { ALL_RELEASES } from '../environment';
import { SelectorCompiler } from './selectors';
import type { SelectorFeatures } from './selectors';

/** Release 1.36 compiles new expressions with the libraries of the one before it. */
const NEW = 35;
const NAME = 'device.attributes["dra.example.com"].name';
const BOTH: SelectorFeatures = { hasConsumableCapacity: true, hasListAttributes: true };
const NEITHER: SelectorFeatures = { hasConsumableCapacity: false, hasListAttributes: false };

const compile = (source: string, features = NEITHER, release = ALL_RELEASES): unknown =>
  new SelectorCompiler(release, features).compile(source);

/** Estimates of k8s.io/dynamic-resource-allocation 1.36 (`cel/compile_test.go`). */
const COSTS: readonly (readonly [string, number])[] = [
  ['true', 0],
  ['"no-such-domain" in device.attributes', 3],
  ['device.driver == ""', 2],
  ['device.driver == "dra.example.com"', 4],
  [NAME, 4],
  ['device.attributes["dra.example.com"]["name"]', 4],
  ['cel.bind(dra, device.attributes["dra.example.com"], dra.name)', 15],
  [`${NAME} > 0`, 5],
  [`${NAME} == "fish"`, 5],
  [`${NAME}.isGreaterThan(semver("0.0.1"))`, 6],
  [`${NAME}.isGreaterThan(semver("v0.0.1", true)) && isSemver("v1.0.0", true)`, 7],
  ['device.capacity["dra.example.com"].name.isGreaterThan(quantity("1Ki"))', 6],
  ['device.attributes.exists_one(x, x == "dra.example.com")', 164],
  ['device.attributes["dra.example.com"].exists_one(x, x == "services")', 133],
  ['device.attributes["dra.example.com"].services.split("example").size() >= 2', 19],
  ['device.attributes["dra.example.com"].services.matches("[^a]?sym")', 18],
  ['device.capacity.exists_one(x, x == "dra.example.com")', 164],
  ['device.capacity["dra.example.com"].exists_one(x, x == "memory")', 133],
];

const LIST_COSTS: readonly (readonly [string, number])[] = [
  [`${NAME}.exists(x, x > 0)`, 5 + 6 * 64],
  [`${NAME}.size() == 2`, 6],
  [`${NAME}.includes(true)`, 4 + 48],
  [`${NAME}.includes(semver("1.0.0"))`, 4 + 48 + 1],
  [`1 in ${NAME}`, 4 + 64],
  ['device.allowMultipleAllocations == true', 3],
];

describe('selectors of devices', () => {
  it.each(COSTS)('estimate the cost of %s as %d', (source, cost) => {
    expect(compile(source)).toBe(cost);
  });

  it.each(LIST_COSTS)('estimate the cost of %s with lists as %d', (source, cost) => {
    expect(compile(source, BOTH)).toBe(cost);
  });

  it.each([
    ['1', NEITHER, 'must evaluate to bool or the unknown type, not int'],
    ['dyn(true)', NEITHER, 'must evaluate to bool or the unknown type, not dyn'],
    ['device.allowMultipleAllocations', NEITHER, "undefined field 'allowMultipleAllocations'"],
    [`${NAME}.exists(x, x > 0)`, NEITHER, "expression of type 'any' cannot be range of a comprehension"],
    [`${NAME}.includes(1)`, BOTH, "undeclared reference to 'includes'"],
    ['cel.bind(1, 2, true)', NEITHER, 'cel.bind() variable names must be simple identifiers'],
    ['other.bind(x, 2, true)', NEITHER, "undeclared reference to 'bind'"],
  ])('refuse %s as new selectors', (source, features, detail) => {
    expect(compile(source, features, NEW)).toEqual({
      kind: 'invalid',
      detail: expect.stringContaining(detail) as unknown,
    });
  });

  it('accept the type that is unknown only with lists', () => {
    expect(compile('dyn(true)', BOTH, NEW)).toBe(1);
  });
});
