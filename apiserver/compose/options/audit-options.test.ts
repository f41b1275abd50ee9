import { parseFlags } from '../../../shared/flags/parse-flags';
import { GROUP } from '../../../shared/names';
import { AUDIT_FLAG_ROWS } from './audit-flag-rows';
import type { AuditFlags } from './audit-options';
import { auditErrors, auditOptions, auditWarnings } from './audit-options';

function flags(...argv: string[]): AuditFlags {
  const parsed = parseFlags(AUDIT_FLAG_ROWS, argv);
  if (parsed.outcome !== 'values') throw new Error(JSON.stringify(parsed));
  return parsed.values;
}

const POLICY = '--audit-policy-file=/policy';
const LOG = '--audit-log-path=/audit.log';
const WEBHOOK = '--audit-webhook-config-file=/webhook';

test('without a policy nothing is audited, and a backend without one causes a warning', () => {
  expect(auditOptions(flags())).toBeUndefined();
  expect(auditWarnings(flags())).toEqual([]);
  expect(auditOptions(flags(LOG))).toBeUndefined();
  expect(auditWarnings(flags(LOG))).toEqual([expect.stringContaining('no --audit-policy-file')]);
});

test('without a backend a policy has no effect, and causes a warning', () => {
  expect(auditOptions(flags(POLICY))).toBeUndefined();
  expect(auditWarnings(flags(POLICY))).toEqual([expect.stringContaining('needs --audit-log-path')]);
});

test("the defaults are kube-apiserver's", () => {
  expect(auditOptions(flags(POLICY, LOG, WEBHOOK))).toEqual({
    policyFile: '/policy',
    log: {
      file: '/audit.log',
      format: 'json',
      mode: 'blocking',
      version: 'v1',
      bytesMax: 104_857_600,
      backupsMax: 0,
      ageDaysMax: 0,
      compress: false,
      batch: { bufferEventsMax: 10_000, batchEventsMax: 1, batchWaitMs: 0, throttle: undefined },
      truncation: undefined,
    },
    webhook: {
      configFile: '/webhook',
      initialBackoffMs: 10_000,
      mode: 'batch',
      version: 'v1',
      batch: {
        bufferEventsMax: 10_000,
        batchEventsMax: 400,
        batchWaitMs: 30_000,
        throttle: { perSecond: 10, burst: 15 },
      },
      truncation: undefined,
    },
  });
});

test('every flag has its effect', () => {
  const options = auditOptions(
    flags(
      POLICY,
      LOG,
      '--audit-log-maxsize=5',
      '--audit-log-maxage=7',
      '--audit-log-maxbackup=3',
      '--audit-log-compress',
      '--audit-log-format=legacy',
      `--audit-log-version=${GROUP.audit}/v1beta1`,
      '--audit-log-mode=blocking-strict',
      '--audit-log-truncate-enabled',
      '--audit-log-truncate-max-event-size=1000',
      '--audit-log-truncate-max-batch-size=2000',
      '--audit-log-batch-throttle-enable',
      '--audit-log-batch-throttle-qps=0.5',
      '--audit-log-batch-throttle-burst=1',
    ),
  );
  expect(options?.log).toMatchObject({
    bytesMax: 5_242_880,
    ageDaysMax: 7,
    backupsMax: 3,
    compress: true,
    format: 'legacy',
    version: 'v1beta1',
    mode: 'blocking-strict',
    truncation: { eventBytesMax: 1_000, batchBytesMax: 2_000 },
    batch: { throttle: { perSecond: 0.5, burst: 1 } },
  });
});

test.each([
  ['--audit-webhook-batch-buffer-size=0', '--audit-webhook-batch-buffer-size must be'],
  ['--audit-webhook-batch-max-size=0', '--audit-webhook-batch-max-size must be'],
  ['--audit-webhook-batch-throttle-qps=fast', '--audit-webhook-batch-throttle-qps must be'],
  ['--audit-webhook-batch-throttle-burst=0', '--audit-webhook-batch-throttle-burst must be'],
  ['--audit-webhook-truncate-max-batch-size=9', '--audit-webhook-truncate-max-batch-size must not be below'],
])('%s is rejected when the webhook is used', (flag, error) => {
  expect(auditErrors(flags(POLICY, WEBHOOK, flag))).toEqual([expect.stringContaining(error)]);
  expect(auditErrors(flags(POLICY, LOG, flag))).toEqual([]);
});

test('batch settings are ignored in other modes', () => {
  expect(
    auditErrors(flags(WEBHOOK, '--audit-webhook-mode=blocking', '--audit-webhook-batch-max-size=0')),
  ).toEqual([]);
});
