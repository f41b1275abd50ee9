import type * as Apis from '../../../testing/in-process-api';
import type { InProcessApi, Reply } from '../../../testing/in-process-api';
import type * as Metrics from '../../../compose/metrics/add-admission-metrics';
import { AdmissionCompiler, CONDITION_TYPES } from '../../../../shared/cel/admission/expressions';
import type { CompiledExpression } from '../../../../shared/cel/admission/expressions';
import type { FrameOptions } from '../../../../shared/cel/eval/frame';
import { jsonValue } from '../../../../shared/cel/eval/json-values';
import { runSteps } from '../../../../shared/concurrency/steps';
import { ConversionNeeded } from '../../../engine/registry/conversion-needed';
import { LOOP_BOUNDS, TooLargeHereError } from '../../../engine/request/loop-bounds';
import type { Authorizer } from '../../../engine/request/access';
import { AccessChecks } from './access-checks';
import { EvaluatedWrite, Evaluator, POLICY_COST_MAX } from './evaluator';
import type { ExpressionInput, Outcome } from './evaluator';
import { CompileQueue } from './match-conditions';
import { MetricSet } from '../../../../shared/metrics/metric-set';
import { loadAtLevel } from '../../../../shared/testing/load-at-level';
import type { WebhookServer } from '../webhooks/testing/webhook-server';
import { configurationOf, hookAt, startWebhook } from '../webhooks/testing/webhook-server';

/** Evaluates all; rejects also with what is thrown at once. */
async function allOf(
  evaluator: Evaluator,
  expressions: readonly CompiledExpression[],
  signal = new AbortController().signal,
): Promise<readonly (Outcome | undefined)[]> {
  return runSteps(evaluator.evaluateAll(expressions, signal));
}

const modules = loadAtLevel('1.36', () => ({
  apis: jest.requireActual<typeof Apis>('../../../testing/in-process-api'),
  metrics: jest.requireActual<typeof Metrics>('../../../compose/metrics/add-admission-metrics'),
}));
let api: InProcessApi;
let webhook: WebhookServer;

beforeEach(async () => {
  [api, webhook] = await Promise.all([modules.apis.startInProcessApi(), startWebhook()]);
});
afterEach(async () => {
  await Promise.all([api.close(), webhook.close()]);
});

const MAPS = '/api/v1/namespaces/default/configmaps';

interface Given {
  readonly conditions: readonly string[];
  readonly failurePolicy?: string;
  readonly type?: 'Mutating' | 'Validating';
}

async function configure({ conditions, failurePolicy = 'Fail', type = 'Validating' }: Given): Promise<Reply> {
  const matchConditions = conditions.map((expression, index) => ({ name: `c${String(index)}`, expression }));
  const { path, body } = configurationOf(type, 'conf', [hookAt(webhook, { failurePolicy, matchConditions })]);
  return api.call('POST', path, { body });
}

async function create(name: string, labels: object = {}): Promise<Reply> {
  return api.call('POST', MAPS, { body: { metadata: { name, labels } } });
}

test.each(['Mutating', 'Validating'] as const)(
  'a %s webhook is called only if all conditions hold',
  async (type) => {
    const conditions = [
      "!has(object.metadata.labels) || !('skip' in object.metadata.labels)",
      "request.operation == 'CREATE' && request.userInfo.username == 'tester' && oldObject == null",
    ];
    expect((await configure({ conditions, type })).code).toBe(201);
    expect([(await create('a', { skip: 'yes' })).code, (await create('b')).code]).toEqual([201, 201]);
    expect(webhook.asked.map(({ review }) => (review.request as { name: string }).name)).toEqual(['b']);
  },
);

test('a condition that cannot be evaluated fails or skips the webhook by its failure policy', async () => {
  const conditions = ['object.metadata.labels.absent == "x"', 'true'];
  await configure({ conditions });
  const reply = await create('a', { other: 'x' });
  expect([reply.code, reply.json.message]).toEqual([
    403,
    'configmaps "a" is forbidden: expression \'object.metadata.labels.absent == "x"\' resulted in error: no such key: absent',
  ]);
  await api.call('DELETE', `${configurationOf('Validating', 'conf', []).path}/conf`);
  await configure({ conditions, failurePolicy: 'Ignore' });
  expect((await create('a', { other: 'x' })).code).toBe(201);
  expect(webhook.asked).toEqual([]);
});

test('a false condition skips the webhook even if another one fails', async () => {
  await configure({ conditions: ['object.metadata.labels.absent == "x"', 'false'] });
  expect((await create('a')).code).toBe(201);
});

test('conditions that cost too much together follow the failure policy', async () => {
  // Two checks cost 700,000 of the 2,500,000 units that all conditions may cost.
  const check = (verb: string): string => `!authorizer.requestResource.check('${verb}').errored()`;
  await configure({ conditions: Array.from({ length: 4 }, () => `${check('get')} && ${check('list')}`) });
  const reply = await create('a');
  expect(reply.json.message).toContain('validation failed due to running out of cost budget');
});

test('conditions ask the authorizer', async () => {
  await api.close();
  api = await modules.apis.startInProcessApi(undefined, { authorizationModes: ['RBAC'] });
  await configure({
    conditions: [
      "authorizer.requestResource.check('create').allowed()",
      "!authorizer.serviceAccount('default', 'a').group('').resource('configmaps').namespace('default').check('create').allowed()",
    ],
  });
  expect((await create('a')).code).toBe(201);
  expect(webhook.asked).toHaveLength(1);
});

test('expressions that do not compile are refused, and stored ones keep their libraries', async () => {
  const reply = await configure({
    conditions: ['object.spec.x == ', ' 1 + 1', 'variables.a', 'params.x == 1'],
  });
  expect(reply.code).toBe(422);
  const causes = reply.json.details.causes as { field: string; message: string }[];
  expect(causes.map(({ field, message }) => [field, message.split('\n')[0]])).toEqual([
    [
      'webhooks[0].matchConditions[0].expression',
      expect.stringContaining('compilation failed: ERROR: <input>:1:'),
    ],
    [
      'webhooks[0].matchConditions[1].expression',
      'Invalid value: "1 + 1": must evaluate to bool but got int',
    ],
    [
      'webhooks[0].matchConditions[2].expression',
      expect.stringContaining("undeclared reference to 'variables' (in container '')"),
    ],
    [
      'webhooks[0].matchConditions[3].expression',
      expect.stringContaining("undeclared reference to 'params' (in container '')"),
    ],
  ]);
});

test('evaluations, errors and exclusions are counted', async () => {
  await configure({ conditions: ['object.metadata.labels.a == "x"'] });
  await create('a', { a: 'y' });
  await create('b', { b: 'y' });
  const metrics = new MetricSet();
  modules.metrics.addAdmissionMetrics(metrics, api.plane.admissionMetrics);
  const labels = '{name="a.example.org",kind="webhook",type="validating",operation="CREATE"}';
  const text = String(await metrics.exposition());
  expect(text).toContain(`apiserver_admission_match_condition_exclusions_total${labels} 1`);
  expect(text).toContain(`apiserver_admission_match_condition_evaluation_errors_total${labels} 1`);
  expect(text).toContain(`apiserver_admission_match_condition_evaluation_seconds_count${labels} 2`);
});

test('an object that only a webhook can convert is converted first, and the evaluation repeated', async () => {
  let isConverted = false;
  const shown = (): object => {
    if (isConverted) return { spec: { size: 3 } };
    throw new ConversionNeeded(async () => {
      isConverted = true;
      return Promise.resolve();
    });
  };
  const use = { hasParams: false, hasAuthorizer: false };
  const compiled = new AdmissionCompiler(36, false).compile('object.spec.size == 3', CONDITION_TYPES, use);
  const input = {
    shared: new EvaluatedWrite({} as never),
    attributes: { write: {} },
    object: { value: () => jsonValue(shown()) },
  } as unknown as ExpressionInput;
  const evaluator = new Evaluator(input, POLICY_COST_MAX);
  const [outcome] = await allOf(evaluator, [compiled]);
  expect(outcome?.value).toBe(true);
});

test('no further variable is evaluated once variables have spent the budget', async () => {
  const use = { hasParams: false, hasAuthorizer: false };
  const compiler = new AdmissionCompiler(36, true);
  const costly = 'lists.range(200).all(a, lists.range(200).all(b, a + b >= 0))';
  const names = ['a', 'b', 'c'];
  const evaluated: string[] = [];
  const variables = new Map(
    names.map((name) => {
      const compiled = compiler.compileVariable(name, costly, use);
      const program = {
        evaluate: (options: FrameOptions): unknown => {
          evaluated.push(name);
          return compiled.program?.evaluate(options);
        },
      };
      return [name, { ...compiled, program } as unknown as CompiledExpression];
    }),
  );
  const source = names.map((name) => `variables.${name}`).join(' && ');
  const compiled = compiler.compile(source, CONDITION_TYPES, use);
  const input = {
    shared: new EvaluatedWrite({} as never),
    attributes: { write: {} },
    variables,
  } as unknown as ExpressionInput;
  const evaluator = new Evaluator(input, 100_000);
  await expect(allOf(evaluator, [compiled])).rejects.toThrow('cost budget');
  expect(evaluated).toEqual(['a']);
});

test('the evaluations of an aborted request end', async () => {
  const use = { hasParams: false, hasAuthorizer: false };
  const compiled = new AdmissionCompiler(36, false).compile('true', CONDITION_TYPES, use);
  const evaluator = new Evaluator(
    { shared: new EvaluatedWrite({} as never), attributes: { write: {} } } as unknown as ExpressionInput,
    POLICY_COST_MAX,
  );
  const gone = AbortSignal.abort(new Error('the client is gone'));
  await expect(allOf(evaluator, [compiled, compiled], gone)).rejects.toThrow('the client is gone');
});

describe('work that would hold the event loop', () => {
  test('is left to a worker: an expression that costs more than a turn', async () => {
    const costly = 'lists.range(200).all(a, lists.range(200).all(b, a + b >= 0))';
    const use = { hasParams: false, hasAuthorizer: false };
    const compiled = new AdmissionCompiler(36, false).compile(costly, CONDITION_TYPES, use);
    const evaluate = async (bounds: typeof LOOP_BOUNDS | undefined): Promise<unknown> => {
      const input = {
        shared: new EvaluatedWrite({} as never),
        attributes: { write: { bounds } },
      } as unknown as ExpressionInput;
      const evaluator = new Evaluator(input, POLICY_COST_MAX);
      return (await allOf(evaluator, [compiled]))[0]?.value;
    };
    await expect(evaluate(LOOP_BOUNDS)).rejects.toThrow(TooLargeHereError);
    expect(await evaluate(undefined)).toBe(true);
  });

  test('is not what an answer of the authorizer costs', async () => {
    const source = "authorizer.path('/metrics').check('get').allowed()";
    const use = { hasParams: false, hasAuthorizer: true };
    const compiled = new AdmissionCompiler(36, false).compile(source, CONDITION_TYPES, use);
    const attributes = { write: { bounds: LOOP_BOUNDS, endpoint: { row: {} }, subresource: '' } };
    const authorize = async (): Promise<object> => Promise.resolve({ decision: 'allow', reason: '' });
    const access = new AccessChecks(authorize as unknown as Authorizer, attributes as never);
    const input = {
      shared: new EvaluatedWrite(attributes as never),
      attributes,
      access,
    } as unknown as ExpressionInput;
    const evaluator = new Evaluator(input, POLICY_COST_MAX);
    const [outcome] = await allOf(evaluator, [compiled]);
    expect([outcome?.value, evaluator.remaining < POLICY_COST_MAX - 350_000]).toEqual([true, true]);
  });

  test('is left to a worker: an expression that takes long to compile, which stays uncompiled', async () => {
    const queue = new CompileQueue();
    let compiled = 0;
    queue.add(10_000, () => {
      compiled += 1;
    });
    await expect(queue.prepare(LOOP_BOUNDS)).rejects.toThrow(TooLargeHereError);
    expect(compiled).toBe(0);
    await queue.prepare(undefined);
    expect([compiled, queue.prepare(LOOP_BOUNDS)]).toEqual([1, undefined]);
  });
});
