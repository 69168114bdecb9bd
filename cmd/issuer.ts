import { issueAuthority, issueServing } from './certificates.ts'
import type { IssueRequest } from './issue.ts'

// The child process of `issue`: one request, one answer, the end.
process.once('message', async (request: IssueRequest) => {
  const authority = request.authority ?? (await issueAuthority())
  process.send?.({ authority, serving: await issueServing(authority, request.hosts) })
  process.disconnect()
})
