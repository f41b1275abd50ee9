import type {
  MatchCondition,
  MatchResources,
  MutatingAdmissionPolicyBinding,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicyBinding,
  Variable,
} from '../../../../shared/api/types/admissionregistration-v1';
import { AdmissionCompiler } from '../../../../shared/cel/admission/expressions';
import type { CompiledExpression, ExpressionUse } from '../../../../shared/cel/admission/expressions';
import type { CelType } from '../../../../shared/cel/check/types';
import { ALL_RELEASES } from '../../../../shared/cel/environment';
import type { Steps } from '../../../../shared/concurrency/steps';
import { waitFor } from '../../../../shared/concurrency/steps';
import { GROUP } from '../../../../shared/names';
import type { ApiObject } from '../../../../shared/object/object';
import { API_SERVER_USER } from '../../../engine/registry/api-server-user';
import type { AdmissionAttributes } from '../../../engine/registry/admission';
import type { ExpressionInput } from '../expressions/evaluator';
import type { ExpressionMetrics } from '../expressions/expression-metrics';
import { CompileQueue, MatchConditions } from '../expressions/match-conditions';
import type { MatchResult } from '../expressions/match-conditions';
import type { Match } from './matching';
import { compileMatch } from './matching';

/** What validating and mutating policies have in common. */
interface PolicySpec {
  readonly failurePolicy?: string;
  readonly paramKind?: ParamKind;
  readonly matchConstraints?: MatchResources;
  readonly matchConditions?: readonly MatchCondition[];
  readonly variables?: readonly Variable[];
}

/** A policy, ready to be evaluated. Its expressions are compiled when a request first needs them. */
export abstract class Policy {
  readonly name: string;
  readonly match: Match;
  readonly paramKind: ParamKind | undefined;
  /** failurePolicy Ignore. */
  readonly failsOpen: boolean;
  readonly #conditions: MatchConditions | undefined;
  readonly variables = new Map<string, CompiledExpression>();
  readonly #compiler = new AdmissionCompiler(ALL_RELEASES, true);
  readonly #queue = new CompileQueue();
  readonly #use: ExpressionUse;

  constructor(name: string, spec: PolicySpec) {
    const { matchConditions = [], variables = [], paramKind } = spec;
    this.name = name;
    this.match = compileMatch(spec.matchConstraints);
    this.paramKind = paramKind;
    this.failsOpen = spec.failurePolicy === 'Ignore';
    this.#use = { hasParams: paramKind !== undefined, hasAuthorizer: true };
    for (const variable of variables) {
      this.#queue.add(variable.expression.length, () => {
        const compiled = this.#compiler.compileVariable(variable.name, variable.expression, this.#use);
        this.variables.set(variable.name, compiled);
      });
    }
    const shared = { compiler: this.#compiler, queue: this.#queue };
    this.#conditions =
      matchConditions.length === 0 ? undefined : new MatchConditions(matchConditions, this.#use, shared);
  }

  /** Compiles the policy if it is not compiled yet, and evaluates its conditions. Throws TooLargeHereError beyond the bounds of the request. */
  *matches(input: ExpressionInput, metrics: ExpressionMetrics, signal: AbortSignal): Steps<MatchResult> {
    const compiling = this.#queue.prepare(input.attributes.write.bounds);
    if (compiling !== undefined) yield* waitFor(compiling);
    if (this.#conditions === undefined) return { matches: true };
    const labels = { name: this.name, kind: 'policy', type: 'validate' } as const;
    const context = { labels, failsOpen: this.failsOpen, metrics };
    // Conditions do not see the namespace.
    return yield* this.#conditions.match({ ...input, namespaceObject: undefined }, context, signal);
  }

  /** Adds an expression that is compiled after the variables. */
  add(
    source: string,
    types: readonly CelType[],
    keep: (compiled: CompiledExpression) => void,
    use: Partial<ExpressionUse> = {},
  ): void {
    this.#queue.add(source.length, () => {
      keep(this.#compiler.compile(source, types, { ...this.#use, ...use }));
    });
  }
}

/** A binding of a policy of either kind. */
export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly match: Match;
  readonly paramRef: ParamRef | undefined;
  /** Only of validating policies. */
  readonly actions: readonly string[];
}

/** Reads the binding of a policy. */
export function bindingOf(object: ApiObject): Binding {
  const { metadata, spec } = object as MutatingAdmissionPolicyBinding | ValidatingAdmissionPolicyBinding;
  return {
    name: metadata.name ?? '',
    policyName: spec.policyName ?? '',
    match: compileMatch(spec.matchResources),
    paramRef: spec.paramRef,
    actions: ('validationActions' in spec ? spec.validationActions : undefined) ?? [],
  };
}

const POLICY_RESOURCES: readonly string[] = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
];
const UNSEEN: ReadonlyMap<string, readonly string[]> = new Map([
  [GROUP.authentication, ['selfsubjectreviews', 'tokenreviews']],
  [
    GROUP.authorization,
    [
      'localsubjectaccessreviews',
      'selfsubjectaccessreviews',
      'selfsubjectrulesreviews',
      'subjectaccessreviews',
    ],
  ],
  [GROUP.admissionregistration, POLICY_RESOURCES],
]);

/**
 * Reports writes that policies do not see: policies themselves, so that a broken one can be removed, reviews of access
 * (k8s.io/kubernetes `kubeapiserver/admission/exclusion`), and the server's own writes, so that it can start.
 */
export function isExempt({ write: { endpoint, user } }: AdmissionAttributes): boolean {
  const { group, resource } = endpoint.row;
  return user === API_SERVER_USER || UNSEEN.get(group)?.includes(resource) === true;
}
