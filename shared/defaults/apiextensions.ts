import type { Json } from '../conversion/json';
import { has, objectAt, objectsAt, textAt } from '../conversion/json';
import type { DefaultsTable, MessageDefaults } from './contract';

const reference: MessageDefaults = { values: { port: 443 } };
const definition: MessageDefaults = { derive: ofDefinition };
const names: MessageDefaults = { derive: ofNames };

export const APIEXTENSIONS: DefaultsTable = {
  'apiextensions/v1.CustomResourceDefinition': definition,
  'apiextensions/v1beta1.CustomResourceDefinition': {
    derive: (object) => {
      const spec = ofVersions(objectAt(object, 'spec') ?? {});
      return { spec, ...ofDefinition({ ...object, spec }) };
    },
  },
  'apiextensions/v1.CustomResourceDefinitionSpec': { values: { conversion: { strategy: 'None' } } },
  'apiextensions/v1beta1.CustomResourceDefinitionSpec': {
    values: { scope: 'Namespaced', conversion: { strategy: 'None' }, preserveUnknownFields: true },
  },
  'apiextensions/v1beta1.CustomResourceConversion': {
    derive: ({ strategy, conversionReviewVersions: given }) =>
      strategy !== 'Webhook' || (Array.isArray(given) && given.length > 0)
        ? undefined
        : { conversionReviewVersions: ['v1beta1'] },
  },
  'apiextensions/v1.CustomResourceDefinitionNames': names,
  'apiextensions/v1beta1.CustomResourceDefinitionNames': names,
  'apiextensions/v1.ServiceReference': reference,
  'apiextensions/v1beta1.ServiceReference': reference,
};

export const APIREGISTRATION: DefaultsTable = {
  'apiregistration/v1.ServiceReference': reference,
  'apiregistration/v1beta1.ServiceReference': reference,
};

/** The status begins with the version in which the first objects will be stored. */
function ofDefinition(object: Json): Json | undefined {
  const status = objectAt(object, 'status') ?? {};
  const stored = status['storedVersions'];
  if (Array.isArray(stored) && stored.length > 0) return undefined;
  const storage = objectsAt(objectAt(object, 'spec') ?? {}, 'versions').find(
    (each) => each['storage'] === true,
  );
  return storage === undefined ? undefined : { status: { ...status, storedVersions: [storage['name']] } };
}

/** `version` is an older way to say `versions`, and names the first of them. */
function ofVersions(spec: Json): Json {
  const versions = objectsAt(spec, 'versions');
  const version = textAt(spec, 'version');
  if (versions.length === 0 && version !== '') {
    return { ...spec, versions: [{ name: version, served: true, storage: true }] };
  }
  return version === '' && versions.length > 0 ? { ...spec, version: versions[0]?.['name'] } : spec;
}

function ofNames(object: Json): Json {
  const kind = textAt(object, 'kind');
  return {
    ...(textAt(object, 'singular') === '' ? { singular: kind.toLowerCase() } : {}),
    ...(!has(object, 'listKind') || object['listKind'] === ''
      ? kind === ''
        ? {}
        : { listKind: `${kind}List` }
      : {}),
  };
}
