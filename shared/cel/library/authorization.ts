import type { FunctionDeclaration } from '../check/declarations';
import { BOOL, STRING, structOf } from '../check/types';
import type { CelType } from '../check/types';
import { EvalError, NO_OVERLOAD, OpaqueValue } from '../eval/values';
import type { Result, Value } from '../eval/values';
import { declare, method } from './functions';
import type { Signature } from './functions';

export const AUTHORIZER_TYPE = structOf('kubernetes.authorization.Authorizer');
const PATH_CHECK_TYPE = structOf('kubernetes.authorization.PathCheck');
const GROUP_CHECK_TYPE = structOf('kubernetes.authorization.GroupCheck');
export const RESOURCE_CHECK_TYPE = structOf('kubernetes.authorization.ResourceCheck');
const DECISION_TYPE = structOf('kubernetes.authorization.Decision');
const SINCE = 27;
const SELECTORS_SINCE = 31;

/** What an expression asks an authorizer about. */
export interface AccessQuestion {
  /** The service account to ask about; undefined for the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly verb: string;
  /** A path outside of the resources; the other fields are for resources. */
  readonly path?: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface AccessAnswer {
  readonly isAllowed: boolean;
  readonly reason: string;
  /** Why the authorizer could not decide; empty when it could. */
  readonly error: string;
}

/** Decides at once, because expressions do not wait. */
export type Authorizer = (question: AccessQuestion) => AccessAnswer;

abstract class ByIdentity extends OpaqueValue {
  override equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

/** The variable `authorizer` of admission expressions. */
export class AuthorizerValue extends ByIdentity {
  readonly type = AUTHORIZER_TYPE;
  readonly authorize: Authorizer;
  readonly question: Partial<AccessQuestion>;

  constructor(authorize: Authorizer, question: Partial<AccessQuestion> = {}) {
    super();
    this.authorize = authorize;
    this.question = question;
  }
}

/** A question that lacks its verb, or more. */
class CheckValue extends ByIdentity {
  readonly type;
  readonly authorize: Authorizer;
  readonly question: Partial<AccessQuestion>;

  constructor(type: CelType, { authorize }: AuthorizerValue | CheckValue, question: Partial<AccessQuestion>) {
    super();
    this.type = type;
    this.authorize = authorize;
    this.question = question;
  }
}

class DecisionValue extends ByIdentity {
  readonly type = DECISION_TYPE;
  readonly answer: AccessAnswer;

  constructor(answer: AccessAnswer) {
    super();
    this.answer = answer;
  }
}

/** Returns the value of `authorizer.requestResource`: a check of the resource that a request is about. */
export function resourceCheck(authorizer: AuthorizerValue, question: Partial<AccessQuestion>): OpaqueValue {
  return new CheckValue(RESOURCE_CHECK_TYPE, authorizer, question);
}

/** A step that adds a text to a question. */
function step(id: string, [from, to]: readonly [CelType, CelType], field: keyof AccessQuestion): Signature {
  return method(id, [from, STRING], to, (target, text) => {
    if (!(target instanceof AuthorizerValue || target instanceof CheckValue) || typeof text !== 'string')
      return NO_OVERLOAD;
    if ((field === 'path' || field === 'resource') && text.trim() === '')
      return new EvalError(`${field} must not be empty`);
    return new CheckValue(to, target, { ...target.question, [field]: text });
  });
}

function serviceAccount(target?: Value, namespace?: Value, name?: Value): Result {
  if (!(target instanceof AuthorizerValue) || typeof namespace !== 'string' || typeof name !== 'string')
    return NO_OVERLOAD;
  const isLabel = (text: string): boolean =>
    /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/u.test(text) && text.length <= 63;
  if (!name.split('.').every(isLabel)) return new EvalError('Invalid service account name');
  if (!isLabel(namespace)) return new EvalError('Invalid service account namespace');
  return new AuthorizerValue(target.authorize, { serviceAccount: { namespace, name } });
}

function check(target?: Value, verb?: Value): Result {
  if (!(target instanceof CheckValue) || typeof verb !== 'string') return NO_OVERLOAD;
  return new DecisionValue(target.authorize({ ...target.question, verb }));
}

function onDecision(read: (answer: AccessAnswer) => Result): (decision?: Value) => Result {
  return (decision) => (decision instanceof DecisionValue ? read(decision.answer) : NO_OVERLOAD);
}

const RESOURCE = [RESOURCE_CHECK_TYPE, RESOURCE_CHECK_TYPE] as const;

/** Questions to the authorizer (k8s.io/apiserver `cel/library/authz.go`). */
export const AUTHORIZATION_FUNCTIONS: readonly FunctionDeclaration[] = [
  declare('path', SINCE, step('authorizer_path', [AUTHORIZER_TYPE, PATH_CHECK_TYPE], 'path')),
  declare('group', SINCE, step('authorizer_group', [AUTHORIZER_TYPE, GROUP_CHECK_TYPE], 'group')),
  declare(
    'serviceAccount',
    SINCE,
    method('authorizer_serviceaccount', [AUTHORIZER_TYPE, STRING, STRING], AUTHORIZER_TYPE, serviceAccount),
  ),
  declare(
    'resource',
    SINCE,
    step('groupcheck_resource', [GROUP_CHECK_TYPE, RESOURCE_CHECK_TYPE], 'resource'),
  ),
  declare('subresource', SINCE, step('resourcecheck_subresource', RESOURCE, 'subresource')),
  declare('namespace', SINCE, step('resourcecheck_namespace', RESOURCE, 'namespace')),
  declare('name', SINCE, step('resourcecheck_name', RESOURCE, 'name')),
  declare('fieldSelector', SELECTORS_SINCE, step('authorizer_fieldselector', RESOURCE, 'fieldSelector')),
  declare('labelSelector', SELECTORS_SINCE, step('authorizer_labelselector', RESOURCE, 'labelSelector')),
  declare(
    'check',
    SINCE,
    method('pathcheck_check', [PATH_CHECK_TYPE, STRING], DECISION_TYPE, check),
    method('resourcecheck_check', [RESOURCE_CHECK_TYPE, STRING], DECISION_TYPE, check),
  ),
  declare(
    'errored',
    SINCE,
    method(
      'decision_errored',
      [DECISION_TYPE],
      BOOL,
      onDecision(({ error }) => error !== ''),
    ),
  ),
  declare(
    'error',
    SINCE,
    method(
      'decision_error',
      [DECISION_TYPE],
      STRING,
      onDecision(({ error }) => error),
    ),
  ),
  declare(
    'allowed',
    SINCE,
    method(
      'decision_allowed',
      [DECISION_TYPE],
      BOOL,
      onDecision(({ isAllowed }) => isAllowed),
    ),
  ),
  declare(
    'reason',
    SINCE,
    method(
      'decision_reason',
      [DECISION_TYPE],
      STRING,
      onDecision(({ reason }) => reason),
    ),
  ),
];
