import { listed } from '../../../../shared/base/listed.ts';

export const portuguese = {
  nods: listed(
    'ah é mesmo|é mesmo|bom saber|interessante|ah que bom|nossa|isso é ótimo|isso é bom|é interessante|ah entendi|ah tá|ah tá bom|muito bem então|ah bom|ah ótimo|ah perfeito|ah legal|que legal',
    'é bom saber|fico feliz|que alegria|que ótimo|que maravilha|maravilhoso|maravilha|fantástico|excelente|incrível|magnífico|espetáculo|show|show de bola|bacana|que bacana|porreiro|que fixe',
    'parece bom|parece ótimo|parece perfeito|me parece bem|parece-me bem|por mim tudo bem|para mim está bem|pra mim tá bom|pra mim tá ótimo|está perfeito|está ótimo|está claro|está correto|é verdade isso|isso é verdade|isso é certo',
    'muito útil|que útil|muito interessante|realmente interessante|que interessante|que gentil|muito gentil|meu deus|ai meu deus|nossa senhora|caramba|puxa|puxa vida|não me diga|a sério|sério|sério mesmo|ah sério',
    'ah sim claro|ah pois|pois sim|pois claro que sim|já percebi|já entendi|então é isso|ah é assim|olha só|olha que bom|ok perfeito|ok muito bem|ok obrigado|tá certo então|tá ótimo|tá legal|tudo certo|tudo ótimo',
    'sim claro|sim sim claro|sim exato|sim exatamente|sim com certeza|sim correto|sim perfeito|sim muito bem|sim entendo|sim entendi|sim isso mesmo|tem razão|você tem razão|tem toda a razão|boa ideia|ótima ideia',
    'faz sentido isso|isso faz sentido|faz todo o sentido|eu entendo|entendo bem|entendo perfeitamente|agora entendi|agora percebi|eu sei|sim eu sei|já sei disso|não sabia|eu não sabia|eu imaginava|já imaginava|foi o que pensei|concordo|eu concordo|entendo o que quer dizer|imagino',
    'naturalmente|obviamente|certamente|efetivamente|de fato|de facto|totalmente|absolutamente|sem dúvida|com razão|ainda bem|graças a deus|que alívio|ufa|nada mau|problema nenhum|sem problema nenhum|de boa',
  ),
  interruptions: listed(
    'pare|espere|um momento|não|não não não|não obrigado|esse não|com licença|desculpe|como|o quê|o que disse|pode repetir|repita por favor|mais devagar|mais alto|não estou ouvindo|o que quer dizer|o que é isso',
    'quem é|quanto|quanto custa|quanto tempo demora|quando é|onde fica|qual|por que não agora|por quê|a que horas|na sexta|na segunda por favor|às sete|para quatro pessoas|melhor cinco|o azul|o segundo|o mais barato|melhor amanhã|na próxima semana',
    'na verdade não|mudei de ideia|cancele|cancele o meu pedido|esqueça|deixe pra lá|não quero|não preciso|está errado|não é isso|não foi isso que perguntei|não é o meu nome|meu nome é Ana|é Silva|não é Santos|eu quis dizer terça|eu disse quinze',
    'posso perguntar uma coisa|posso falar com alguém|quero falar com uma pessoa|passe para um atendente|tenho uma pergunta|uma pergunta|outra coisa|mas eu já paguei|mas espere|mas é muito tarde|mas por quê|sim mas hoje não|ok mas quanto custa|preciso de ajuda|me ajude|quero um reembolso|quero pagar',
    'quero reservar|preciso da fatura|mande por e-mail|me ligue depois|volte|pule isso|próximo|comece de novo|fique quieto|me escute|alô|você está aí|tem estacionamento|o café da manhã está incluído|está aberto agora|custa mais|e no domingo|melhor às seis|muito caro|muito tarde|muito cedo',
    'dois bilhetes|três noites|com vista|sem cebola|para Lisboa|do aeroporto|com cartão|em dinheiro|com a minha esposa|o outro endereço|está quebrado|não funciona|estou com pressa|tenho que ir|estou dirigindo|não terminei|deixa eu terminar',
  ),
};
