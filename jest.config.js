'use strict';

const transform = {
  '^.+\\.ts$': [
    '@swc/jest',
    {
      jsc: { target: 'es2023', parser: { syntax: 'typescript' } },
      module: { type: 'commonjs' },
    },
  ],
};

/**
 * The longest that one test or hook may take, whatever the machine: it ends what hangs and measures nothing. It is longer than the patience
 * of the waits (shared/testing/eventually.ts), whose errors say what did not happen. The full sizes of e2e take their time.
 */
const TEST_MINUTES_MAX = process.env.ORCH_E2E_SCALE === 'full' ? 60 : 10;

const common = {
  transform,
  testEnvironment: 'node',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.tools/'],
};

module.exports = {
  testTimeout: TEST_MINUTES_MAX * 60_000,
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/{apiserver,controller-manager,deploy,shared}/**/*.test.ts'],
    },
    { ...common, displayName: 'e2e', testMatch: ['<rootDir>/e2e/**/*.test.ts'] },
  ],
};
