import type * as v1 from '../api/types/apiextensions-v1';
import type * as v1beta1 from '../api/types/apiextensions-v1beta1';
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
} from '../api/types/flowcontrol-v1';
import type { Part } from '../object/object';
import type { DefaultsTable, MessageDefaults } from './contract';

const reference: MessageDefaults<{ readonly port?: number }> = { values: { port: 443 } };

export const APIEXTENSIONS: DefaultsTable = {
  'apiextensions/v1.CustomResourceDefinition': { derive: ofDefinition },
  'apiextensions/v1beta1.CustomResourceDefinition': {
    derive: (object) => {
      const spec = ofVersions(object.spec);
      return { spec, ...ofDefinition({ ...object, spec }) };
    },
  },
  'apiextensions/v1.CustomResourceDefinitionSpec': {
    values: { conversion: { strategy: 'None' } },
    derive: withNames,
  },
  'apiextensions/v1beta1.CustomResourceDefinitionSpec': {
    values: { scope: 'Namespaced', conversion: { strategy: 'None' }, preserveUnknownFields: true },
    derive: withNames,
  },
  'apiextensions/v1beta1.CustomResourceConversion': {
    derive: ({ strategy, conversionReviewVersions: given = [] }) =>
      strategy !== 'Webhook' || given.length > 0 ? undefined : { conversionReviewVersions: ['v1beta1'] },
  },
  'apiextensions/v1.ServiceReference': reference,
  'apiextensions/v1beta1.ServiceReference': reference,
};

type Definition = v1.CustomResourceDefinition | v1beta1.CustomResourceDefinition;

/** The status starts with the version in which the first objects are stored. */
function ofDefinition({ spec, status }: Definition): Part<Pick<Definition, 'status'>> | undefined {
  if ((status?.storedVersions ?? []).length > 0) return undefined;
  const storage = (spec.versions ?? []).find((each) => each.storage);
  return storage === undefined ? undefined : { status: { ...status, storedVersions: [storage.name] } };
}

/** `version` is the deprecated form of `versions` and names the first of them. */
function ofVersions(spec: v1beta1.CustomResourceDefinitionSpec): v1beta1.CustomResourceDefinitionSpec {
  const { versions: [first] = [], version = '' } = spec;
  if (version !== '') {
    return first === undefined
      ? { ...spec, versions: [{ name: version, served: true, storage: true }] }
      : spec;
  }
  return first === undefined ? spec : { ...spec, version: first.name };
}

/** Fills in the requested names; accepted names in the status stay. */
function withNames({ names }: Pick<v1.CustomResourceDefinitionSpec, 'names'>): {
  readonly names: v1.CustomResourceDefinitionNames;
} {
  return { names: { ...names, ...ofNames(names) } };
}

function ofNames({
  kind,
  singular = '',
  listKind = '',
}: v1.CustomResourceDefinitionNames): Partial<
  Pick<v1.CustomResourceDefinitionNames, 'singular' | 'listKind'>
> {
  return {
    ...(singular === '' ? { singular: kind.toLowerCase() } : {}),
    ...(listKind === '' && kind !== '' ? { listKind: `${kind}List` } : {}),
  };
}

const serviceReference: MessageDefaults<{ readonly port?: number }> = { values: { port: 443 } };

export const APIREGISTRATION: DefaultsTable = {
  'apiregistration/v1.ServiceReference': serviceReference,
  'apiregistration/v1beta1.ServiceReference': serviceReference,
};

const flowSchemaSpec = zeros({ matchingPrecedence: 1000 });
const limited = zeros({ assuredConcurrencyShares: 30 });
const limitedByName: MessageDefaults<LimitedPriorityLevelConfiguration> = {
  values: { nominalConcurrencyShares: 30, lendablePercent: 0 },
};
const exempt: MessageDefaults<ExemptPriorityLevelConfiguration> = {
  values: { nominalConcurrencyShares: 0, lendablePercent: 0 },
};
const queuing = zeros({ handSize: 8, queues: 64, queueLengthLimit: 50 });

export const FLOWCONTROL: DefaultsTable = {
  'flowcontrol/v1beta1.FlowSchemaSpec': flowSchemaSpec,
  'flowcontrol/v1alpha1.FlowSchemaSpec': flowSchemaSpec,
  'flowcontrol/v1beta1.LimitedPriorityLevelConfiguration': limited,
  'flowcontrol/v1alpha1.LimitedPriorityLevelConfiguration': limited,
  'flowcontrol/v1.ExemptPriorityLevelConfiguration': exempt,
  'flowcontrol/v1.FlowSchemaSpec': flowSchemaSpec,
  'flowcontrol/v1.LimitedPriorityLevelConfiguration': limitedByName,
  'flowcontrol/v1beta3.FlowSchemaSpec': flowSchemaSpec,
  'flowcontrol/v1beta3.ExemptPriorityLevelConfiguration': exempt,
  'flowcontrol/v1beta3.LimitedPriorityLevelConfiguration': {
    values: { lendablePercent: 0 },
    ...zeros({ nominalConcurrencyShares: 30 }),
  },
  'flowcontrol/v1.QueuingConfiguration': queuing,
  'flowcontrol/v1beta3.QueuingConfiguration': queuing,
  'flowcontrol/v1beta1.QueuingConfiguration': queuing,
  'flowcontrol/v1alpha1.QueuingConfiguration': queuing,
};

/** Returns defaults for numbers in which zero means unset. */
function zeros<Name extends string>(values: Readonly<Record<Name, number>>) {
  return {
    derive: (object: Readonly<Record<Name, number>>) =>
      Object.fromEntries(Object.entries(values).filter(([name]) => object[name as Name] === 0)) as Partial<
        typeof values
      >,
  };
}
