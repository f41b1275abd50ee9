import type { Pod } from '../../../../shared/api/types/core-v1';
import { goQuote } from '../../../../shared/errors/go-quote';
import { labelValueProblems, qualifiedNameProblems } from '../../../../shared/meta/dns-names';
import { ANNOTATION } from '../../../../shared/names';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import { fieldsOf, stringMap, text } from '../../../../shared/object/accessors';
import type { ClusterReader } from '../../cluster/cluster-reader';
import type { AdmissionPlugin } from '../plugin';
import { pluginOf, writesOf } from '../plugin';
import { refusal } from '../refusal';
import { NAMESPACES, PODS } from '../../cluster/resources';
import { withSpec } from './with-spec';

type Labels = Readonly<Record<string, string>>;

interface Selectors {
  /** The default node selector of namespaces without one. */
  readonly clusterDefault: Labels;
  /** The allowed node selector of each namespace. A namespace without an entry allows everything. */
  readonly allowed: ReadonlyMap<string, Labels>;
}

interface Configuration {
  readonly podNodeSelectorPluginConfig: Labels;
}

const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector';

/** Applies the node selector of the namespace or of the configuration to pods. */
export function podNodeSelector(configuration: unknown): AdmissionPlugin {
  const selectors = selectorsOf(configuration);
  return pluginOf(writesOf(PODS, ['CREATE']), {
    mutate(attributes, cluster) {
      const { object } = attributes;
      if (object === undefined) return object;
      const wanted = selectorOf(attributes, cluster, selectors);
      const own = checked(attributes, object, wanted);
      const nodeSelector = { ...wanted, ...own };
      return Object.keys(nodeSelector).length === 0 ? object : withSpec(object, { nodeSelector });
    },
    validate(attributes, cluster) {
      const { object } = attributes;
      const { namespace } = attributes.write;
      if (object === undefined) return;
      const own = checked(attributes, object, selectorOf(attributes, cluster, selectors));
      const allowed = selectors.allowed.get(namespace) ?? {};
      const isWithin = Object.entries(own).every(([key, value]) => allowed[key] === value);
      if (Object.keys(allowed).length > 0 && !isWithin) {
        throw refusal(attributes, 'pod node label selector labels conflict with its namespace whitelist');
      }
    },
  });
}

/** Returns the pod's own selector. Throws on a conflict with its namespace's. */
function checked(attributes: AdmissionAttributes, { spec }: Pod, wanted: Labels): Labels {
  const { nodeSelector: own = {} } = spec;
  const differs = Object.entries(wanted).some(([key, value]) => own[key] !== undefined && own[key] !== value);
  if (!differs) return own;
  throw refusal(attributes, 'pod node label selector conflicts with its namespace node label selector');
}

function selectorOf(
  attributes: AdmissionAttributes,
  cluster: ClusterReader,
  { clusterDefault }: Selectors,
): Labels {
  const annotations = cluster.get(NAMESPACES, attributes.write.namespace)?.metadata.annotations ?? {};
  const own = annotations[ANNOTATION.namespaceNodeSelector];
  const selector = own === undefined ? clusterDefault : labelsOf(own);
  if (typeof selector !== 'string') return selector;
  throw refusal(attributes, selector);
}

/** Returns the problem of the configuration, or undefined. */
export function podNodeSelectorProblem(configuration: unknown): string | undefined {
  const wrong = wordsOf(configuration).find(([, words]) => typeof labelsOf(words) === 'string');
  return wrong && `the selector of ${wrong[0]} is not like a=b,c=d`;
}

function selectorsOf(configuration: unknown): Selectors {
  const given = wordsOf(configuration).map(([name, words]) => {
    const labels = labelsOf(words);
    return [name, typeof labels === 'string' ? {} : labels] as const;
  });
  const allowed = new Map(given);
  allowed.delete(CLUSTER_DEFAULT);
  return { clusterDefault: new Map(given).get(CLUSTER_DEFAULT) ?? {}, allowed };
}

/** Returns the selectors as written, by namespace. */
function wordsOf(configuration: unknown): readonly (readonly [name: string, words: string])[] {
  const { podNodeSelectorPluginConfig: given } = fieldsOf<Configuration>(configuration);
  return Object.entries(stringMap(given)).map(([name, words]) => [name, text(words)]);
}

/** Parses `a=b,c=d`; returns upstream's error text if invalid. An unreadable selector must not match every node. */
function labelsOf(words: string): Labels | string {
  if (words.trim() === '') return {};
  const labels = new Map<string, string>();
  for (const word of words.split(',')) {
    const parts = word.split('=');
    if (parts.length !== 2) return `invalid selector: [${parts.join(' ')}]`;
    const [key = '', value = ''] = parts.map((part) => part.trim());
    const problem = labelProblem(key, value);
    if (problem !== undefined) return problem;
    labels.set(key, value);
  }
  return Object.fromEntries(labels);
}

function labelProblem(key: string, value: string): string | undefined {
  const ofKey = qualifiedNameProblems(key);
  if (ofKey.length > 0) return `<nil>: Invalid value: ${goQuote(key)}: ${ofKey.join('; ')}`;
  const ofValue = labelValueProblems(value);
  return ofValue.length > 0 ? `[${key}]: Invalid value: ${goQuote(value)}: ${ofValue.join('; ')}` : undefined;
}
