/** An agent file whose LLM is at this address; its STT and TTS are never opened. */
export const agentText = (baseUrl: string, agentKeys = ''): string => `
[agent]
name = "rehearsed"
prompt = "You answer the phone."
${agentKeys}
[stt]
provider = "stt_cloud_a"
api_key_env = "STT_KEY"
[llm]
provider = "chat_compatible"
chat_compatible = { base_url = "${baseUrl}", model = "m" }
[tts]
provider = "speech_compatible"
voice = "v"
speech_compatible = { base_url = "http://127.0.0.1:9/v1", preset = "generic", model = "m" }
`;
