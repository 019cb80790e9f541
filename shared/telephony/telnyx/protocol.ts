/**
 * The media stream of Telnyx (Telnyx media streaming, bidirectional in RTP mode): wire shapes of both directions. Numbers in frames
 * are texts; payloads are RTP payloads without their header, base64.
 */

/** What the carrier sends; fields that nobody reads are left out. */
export interface TelnyxMessage {
  readonly event?: unknown;
  readonly stream_id?: unknown;
  readonly start?: {
    readonly call_control_id?: unknown;
    readonly from?: unknown;
    readonly to?: unknown;
    readonly custom_parameters?: unknown;
    readonly media_format?: { readonly encoding?: unknown; readonly sample_rate?: unknown };
  };
  readonly media?: { readonly track?: unknown; readonly chunk?: unknown; readonly payload?: unknown };
  readonly dtmf?: { readonly digit?: unknown };
  readonly mark?: { readonly name?: unknown };
  /** Of `error`. */
  readonly payload?: { readonly code?: unknown };
}
