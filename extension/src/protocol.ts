/** Made by `npm run types` from the relay's models (`bridge/relay/messages.py`); never edited by hand. */

/** What a client may call. */
export interface Methods {
  readonly "approval/answer": { readonly params: ApprovalAnswerParams; readonly result: ApprovalAnswerResult };
  readonly "initialize": { readonly params: InitializeParams; readonly result: InitializeResult };
  readonly "inspector/open": { readonly params: InspectorOpenParams; readonly result: InspectorOpenResult };
  readonly "inspector/promote": { readonly params: InspectorPromoteParams; readonly result: InspectorPromoteResult };
  readonly "session/get": { readonly params: SessionGetParams; readonly result: SessionGetResult };
  readonly "session/list": { readonly params: SessionListParams; readonly result: SessionListResult };
  readonly "shutdown": { readonly params: ShutdownParams; readonly result: ShutdownResult };
  readonly "site/list": { readonly params: SiteListParams; readonly result: SiteListResult };
  readonly "task/cancel": { readonly params: TaskCancelParams; readonly result: TaskCancelResult };
  readonly "task/start": { readonly params: TaskStartParams; readonly result: TaskStartResult };
  readonly "tools/list": { readonly params: ToolsListParams; readonly result: ToolsListResult };
  readonly "workspace/open": { readonly params: WorkspaceOpenParams; readonly result: WorkspaceOpenResult };
}

/** What the bridge sends by itself. */
export interface Notifications {
  readonly "delta": DeltaMessage;
  readonly "event": EventMessage;
}

/** A call that waits for an answer: the data of `call.asking`, with where it belongs. */
export interface Approval {
  readonly args: Readonly<Record<string, unknown>>;
  readonly call: string;
  readonly diff: string | null;
  readonly digest: string;
  readonly id: string;
  readonly reason: string;
  readonly rule: string;
  readonly session: string;
  readonly task: string;
  readonly tool: string;
}

export interface ApprovalAnswerParams {
  readonly decision: "approve" | "deny";
  readonly digest: string;
  readonly id: string;
  readonly reason?: string | null;
}

export interface ApprovalAnswerResult {
  readonly outcome: "accepted" | "already_answered" | "digest_mismatch" | "unknown";
}

export interface ClientInfo {
  readonly name: string;
  readonly version: string;
}

/**
 * A live piece of a running turn (notification `delta`): what stands at `offset` (characters) of its text.
 *
 * An offset below what is known replaces from there on.
 */
export interface DeltaMessage {
  readonly data: Readonly<Record<string, unknown>>;
  readonly offset: number;
  readonly session: string;
  readonly task: string;
  readonly text: string;
  readonly turn: number;
  readonly type: "reply.delta" | "call.progress";
}

/** A durable event (notification `event`). `cause` is the `seq` of the event that led to it. */
export interface EventMessage {
  readonly call: string | null;
  readonly cause: number | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly journal_id: string;
  readonly seq: number;
  readonly session: string;
  readonly task: string | null;
  readonly time: number;
  readonly turn: number | null;
  readonly type: string;
  readonly v: number;
}

/** The first message of a connection. Without `last` events start from now. Later additions are ignored. */
export interface InitializeParams {
  readonly capabilities?: Readonly<Record<string, unknown>>;
  readonly client: ClientInfo;
  readonly last?: Last | null;
  readonly nonce: string;
}

/**
 * `proof` is HMAC-SHA256 (hex) of the nonce's UTF-8 bytes under the UTF-8 bytes of `server_key`.
 *
 * `workspace` is None for a discovery connection; `viewer` names a viewer for `inspector/promote`.
 */
export interface InitializeResult {
  readonly approvals: readonly Approval[];
  readonly journal_id: string;
  readonly proof: string;
  readonly role: "discovery" | "viewer" | "controller";
  readonly seq: number;
  readonly sessions: readonly Session[];
  readonly version: string;
  readonly viewer: string | null;
  readonly workspace: string | null;
}

export interface InspectorOpenParams {
  readonly session?: string | null;
}

/** `url` holds a one-time code in its fragment, good for `seconds`; `viewer` names who will come with it. */
export interface InspectorOpenResult {
  readonly seconds: number;
  readonly url: string;
  readonly viewer: string;
}

export interface InspectorPromoteParams {
  readonly viewer: string;
}

/** False: no such viewer is connected. */
export interface InspectorPromoteResult {
  readonly promoted: boolean;
}

/** The last durable event that a client has; `seq` 0 with any `journal_id` asks for everything. */
export interface Last {
  readonly journal_id: string;
  readonly seq: number;
}

/** One session. Times are seconds since the epoch; `events`, `calls` and `prompts` are counts. */
export interface Session {
  readonly calls: number;
  readonly events: number;
  readonly last: number;
  readonly prompts: number;
  readonly session: string;
  readonly site: string | null;
  readonly started: number;
  readonly state: string;
  readonly title: string | null;
  readonly workspace: string | null;
}

export interface SessionGetParams {
  readonly after?: number;
  readonly limit?: number;
  readonly session: string;
}

/** `more`: ask again with `after` = the last event's `seq`. */
export interface SessionGetResult {
  readonly events: readonly EventMessage[];
  readonly more: boolean;
  readonly session: Session;
}

/** No parameters. */
export type SessionListParams = Record<string, never>;

export interface SessionListResult {
  readonly sessions: readonly Session[];
}

/** No parameters. */
export type ShutdownParams = Record<string, never>;

/** The bridge ends after this answer. */
export type ShutdownResult = Record<string, never>;

export interface Site {
  readonly name: string;
  readonly title: string;
  readonly url: string | null;
}

/** No parameters. */
export type SiteListParams = Record<string, never>;

export interface SiteListResult {
  readonly sites: readonly Site[];
}

export interface TaskCancelParams {
  readonly task: string;
}

/** False: no such task runs in this workspace. */
export interface TaskCancelResult {
  readonly cancelled: boolean;
}

/** `dialect` names how calls are written, else `provider` and `xml` choose it; `multi` runs all calls of a reply. */
export interface TaskStartParams {
  readonly approve?: "ask" | "edits" | "auto" | "none" | null;
  readonly dialect?: string | null;
  readonly max_iterations?: number | null;
  readonly mode?: "plan" | "act" | null;
  readonly multi?: boolean | null;
  readonly new_chat?: boolean;
  readonly provider?: string | null;
  readonly site?: string | null;
  readonly task: string;
  readonly url?: string | null;
  readonly xml?: boolean | null;
}

export interface TaskStartResult {
  readonly session: string;
  readonly task: string;
}

export interface Tool {
  readonly description: string;
  readonly name: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** No parameters. */
export type ToolsListParams = Record<string, never>;

export interface ToolsListResult {
  readonly tools: readonly Tool[];
}

export interface WorkspaceOpenParams {
  readonly path: string;
}

export interface WorkspaceOpenResult {
  readonly token: string;
  readonly workspace: string;
}
