import { deepEqual } from '../object/clone';
import type { ApiObject } from '../object/object';
import type { Conversion } from './conversion';
import type { ReadonlyJson } from '../object/json';
import { changeList, changeObject, compact, has, objectsAt, textAt, without } from '../object/json';
import { movesConversion } from './moves';
import { ownKeyMap } from '../own-key-map';

/**
 * apiextensions/v1beta1 may set fields of all versions once in the spec; v1 sets them in every version. Fields
 * that are equal in every version of a v1 definition are returned in the spec of v1beta1.
 */
export const CUSTOM_RESOURCE_DEFINITION: Conversion = {
  toHub: (object) => changeObject(MOVED.toHub(object), 'spec', spread) as ApiObject,
  fromHub: (object) => MOVED.fromHub(changeObject(object, 'spec', gather) as ApiObject),
};

const MOVED = movesConversion([
  ['spec.conversion.webhookClientConfig', 'spec.conversion.webhook.clientConfig'],
  ['spec.conversion.conversionReviewVersions', 'spec.conversion.webhook.conversionReviewVersions'],
]);

/** Names in the v1beta1 spec of fields of each version. */
const COMMON = ownKeyMap<string>({
  subresources: 'subresources',
  validation: 'schema',
  additionalPrinterColumns: 'additionalPrinterColumns',
});
const COMMON_IN_SPEC = [...COMMON.keys()];

function spread(spec: ReadonlyJson): ReadonlyJson {
  const common = compact(
    Object.fromEntries([...COMMON].map(([own, name]) => [name, has(spec, own) ? spec[own] : undefined])),
  );
  const named = textAt(spec, 'version');
  const given = objectsAt(spec, 'versions');
  const versions =
    given.length === 0 && named !== '' ? [{ name: named, served: true, storage: true }] : given;
  return {
    ...without(spec, 'version', 'versions', ...COMMON_IN_SPEC),
    versions: versions.map((version) => columnsOf({ ...version, ...common }, 'JSONPath', 'jsonPath')),
  };
}

function gather(spec: ReadonlyJson): ReadonlyJson {
  const versions = objectsAt(spec, 'versions').map((version) => columnsOf(version, 'jsonPath', 'JSONPath'));
  const [first, ...others] = versions;
  const preserveUnknownFields = spec['preserveUnknownFields'] ?? false;
  if (first === undefined) return { ...spec, preserveUnknownFields };
  const shared = [...COMMON].filter(([, name]) =>
    others.every((each) => deepEqual(each[name] ?? undefined, first[name] ?? undefined)),
  );
  const sharedNames = shared.map(([, name]) => name);
  return compact({
    ...spec,
    version: first['name'],
    versions: versions.map((version) => without(version, ...sharedNames)),
    ...Object.fromEntries(shared.map(([own, name]) => [own, first[name]])),
    preserveUnknownFields,
  });
}

function columnsOf(version: ReadonlyJson, from: string, to: string): ReadonlyJson {
  return changeList(version, 'additionalPrinterColumns', (column) =>
    from in column ? { ...without(column, from), [to]: column[from] } : column,
  );
}
