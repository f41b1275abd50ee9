import { GoValue } from '../../../../shared/errors/go-values';
import { shownVersion, shownVersions } from './crd-version-words';

const version = { name: 'v1', served: true, storage: false };
const columns = [{ name: 'A', type: 'string', jsonPath: '.a', priority: 1 }];
const wordsOf = (value: unknown): string => (value instanceof GoValue ? value.toString() : 'JSON');
const nowhere = (): boolean => false;
const WARNING = '(*string)(nil)';
const SCHEMA = '(*apiextensions.CustomResourceValidation)(nil)';
const SUBRESOURCES = '(*apiextensions.CustomResourceSubresources)(nil)';

test.each<[string, object, () => boolean, string]>([
  ['nothing', {}, nowhere, '[]apiextensions.CustomResourceColumnDefinition(nil)'],
  [
    'columns',
    { additionalPrinterColumns: columns },
    nowhere,
    '[]apiextensions.CustomResourceColumnDefinition{apiextensions.CustomResourceColumnDefinition{Name:"A", Type:"string", Format:"", Description:"", Priority:1, JSONPath:".a"}}',
  ],
  [
    'parts in the spec',
    { additionalPrinterColumns: columns, schema: { openAPIV3Schema: {} }, subresources: {} },
    () => true,
    '[]apiextensions.CustomResourceColumnDefinition(nil)',
  ],
])('a version with %s is shown in the syntax of Go', (_, more, inSpec, shownColumns) => {
  const shown = `apiextensions.CustomResourceDefinitionVersion{Name:"v1", Served:true, Storage:false, Deprecated:false, DeprecationWarning:${WARNING}, Schema:${SCHEMA}, Subresources:${SUBRESOURCES}, AdditionalPrinterColumns:${shownColumns}}`;
  expect(wordsOf(shownVersion({ ...version, ...more }, inSpec))).toBe(shown);
  expect(wordsOf(shownVersions([{ ...version, ...more }], inSpec))).toBe(
    `[]apiextensions.CustomResourceDefinitionVersion{${shown}}`,
  );
});

test.each<[object]>([[{ schema: {} }], [{ subresources: {} }], [{ deprecationWarning: 'w' }]])(
  'what would be an address is left to JSON: %j',
  (more) => {
    const versions = [version, { ...version, ...more }];
    expect(shownVersions(versions, nowhere)).toBe(versions);
  },
);
