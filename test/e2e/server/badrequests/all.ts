import { bodies } from './bodies.ts'
import { names } from './names.ts'
import { paths } from './paths.ts'
import { queries } from './queries.ts'
import type { BadRequests } from './request.ts'

export const badRequests: BadRequests = { ...bodies, ...names, ...queries, ...paths }
