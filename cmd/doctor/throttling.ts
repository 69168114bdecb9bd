import type { FlowReport } from '../../framework/fairness/report.ts'
import type { ServerAccess } from '../../framework/net/serveraccess.ts'
import { type Finding, ok, skipped, warning } from './finding.ts'
import { jsonOf, probe } from './probe.ts'

const check = 'fair shares'
/** Milliseconds for which a refused request is reported. */
const recent = 600_000
/** The most users that are named. */
const most = 5

/** Checks which users had requests refused because they used up their share. kcp has no such page. */
export async function throttlingFindings(access: ServerAccess): Promise<readonly Finding[]> {
  const { origin } = new URL(access.server)
  const seen = await probe(access, `${origin}/debug/api_priority_and_fairness/flows`)
  if (seen.status !== 200) return [skipped(check, `the server does not tell about them: ${seen.status}`)]
  const { flows = [] } = jsonOf<{ readonly flows: readonly FlowReport[] }>(seen)
  const throttled = flows
    .filter(({ lastRejected = '' }) => Date.now() - Date.parse(lastRejected) < recent)
    .sort((a, b) => b.rejected - a.rejected)
  if (throttled.length === 0) return [ok(check, 'no request was refused in the last ten minutes')]
  return throttled.slice(0, most).map(describe)
}

const flags: Readonly<Record<FlowReport['priorityLevel'], string>> = {
  readOnly: '--max-requests-inflight',
  mutating: '--max-mutating-requests-inflight',
  longRunning: '--max-watches',
}

function describe({ user, workspace, priorityLevel, rejected, executing, waiting }: FlowReport): Finding {
  const who = `user ${JSON.stringify(user)} at ${JSON.stringify(workspace)}`
  const now = `${executing} in progress, ${waiting} waiting`
  const change = `reduce the concurrent requests of this client, or raise ${flags[priorityLevel]}`
  return warning(check, `${rejected} ${priorityLevel} requests of ${who} were refused (now ${now})`, change)
}
