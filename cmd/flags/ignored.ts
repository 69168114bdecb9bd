import { type Command, Option } from 'commander'

/** Flags of kcp that mean nothing here, and what is the case instead. */
const ignored: Readonly<Record<string, string>> = {
  'audit-log-batch-buffer-size': 'audit events are written as they come',
  'audit-log-batch-max-size': 'audit events are written as they come',
  'audit-log-batch-max-wait': 'audit events are written as they come',
  'audit-log-batch-throttle-burst': 'audit events are written as they come',
  'audit-log-batch-throttle-enable': 'audit events are written as they come',
  'audit-log-batch-throttle-qps': 'audit events are written as they come',
  'audit-log-compress': 'audit logs are not compressed',
  'audit-log-format': 'audit events are JSON',
  'audit-log-mode': 'audit events are written as they come',
  'audit-log-truncate-enabled': 'audit events are written whole',
  'audit-log-truncate-max-batch-size': 'audit events are written whole',
  'audit-log-truncate-max-event-size': 'audit events are written whole',
  'audit-log-version': 'audit events are audit.k8s.io/v1',
  'audit-webhook-batch-buffer-size': 'batches have a fixed size',
  'audit-webhook-batch-max-size': 'batches have a fixed size',
  'audit-webhook-batch-max-wait': 'batches are sent soon',
  'audit-webhook-batch-throttle-burst': 'batches are not throttled',
  'audit-webhook-batch-throttle-enable': 'batches are not throttled',
  'audit-webhook-batch-throttle-qps': 'batches are not throttled',
  'audit-webhook-initial-backoff': 'batches are sent again after a while',
  'audit-webhook-mode': 'audit events are sent in batches',
  'audit-webhook-truncate-enabled': 'audit events are sent whole',
  'audit-webhook-truncate-max-batch-size': 'audit events are sent whole',
  'audit-webhook-truncate-max-event-size': 'audit events are sent whole',
  'audit-webhook-version': 'audit events are audit.k8s.io/v1',
  'authentication-skip-lookup': 'nothing is looked up in a cluster around this process',
  'authentication-token-webhook-cache-ttl': 'reviews of tokens are believed for ten seconds',
  'authentication-tolerate-lookup-failure': 'nothing is looked up in a cluster around this process',
  'disable-http2-serving': 'HTTP/1.1 and HTTP/2 are served',
  'feature-gates': 'there are no feature gates',
  'http2-max-streams-per-connection': 'the number of streams is not limited',
  'log-flush-frequency': 'log lines are written as they come',
  'log-json-info-buffer-size': 'log lines are written as they come',
  'log-json-split-stream': 'log lines go to standard error',
  'log-text-info-buffer-size': 'log lines are written as they come',
  'log-text-split-stream': 'log lines go to standard error',
  'logging-format': 'log lines are JSON',
  'permit-address-sharing': 'the address is not shared',
  'permit-port-sharing': 'the port is not shared',
  'profiler-address': 'use node --inspect',
  'shard-external-url': 'it is not needed any more, in kcp either',
  'tls-cipher-suites': 'those of Node.js are used',
  'tls-min-version': 'TLS 1.2 is the least',
  'tls-sni-cert-key': 'there is one serving certificate',
  vmodule: 'log levels are the same everywhere',
}

/** Takes the flags with and without values, so that command lines of kcp work as they are. */
export function addIgnoredFlags(command: Command): Command {
  for (const name of Object.keys(ignored))
    command.addOption(new Option(`--${name} [value]`, 'has no meaning here').hideHelp())
  return command
}

const camelCase = (name: string): string =>
  name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** One line for each flag that was given in vain. */
export const warningsAbout = (flags: object): readonly string[] =>
  Object.entries(ignored)
    .filter(([name]) => camelCase(name) in flags)
    .map(([name, why]) => `--${name} is ignored: ${why}`)
