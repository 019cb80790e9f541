import { listed, spaced } from '../base/listed.ts';
import type { Language } from './language.ts';

const orders =
  'reserve|reserva|marque|marca|envie|envia|mande|manda|pague|paga|transfira|transfere|faça|faz|ponha|põe|coloque|coloca|adicione|adiciona|compre|compra|peça|pede|ative|ativa|bloqueie|bloqueia|apague|apaga|ligue|liga|siga|continue|continua|use|usa|tome|toma|abra|abre|feche|fecha|confirme|confirma|conecte|conecta|passe|passa|prossiga|registre|registe|agende|agenda';

export const portuguese: Language = {
  code: 'pt',
  name: 'Portuguese',
  lines: {
    fillers: ['Um momento, por favor.', 'Vou verificar.', 'Só mais um segundo.', 'Já volto a falar consigo.'],
    apology: 'Desculpe, algo deu errado. Pode repetir, por favor?',
    misheard: 'Desculpe, não entendi. Pode repetir, por favor?',
    farewell: 'Até logo.',
    hold: 'O problema ainda continua. Por favor, aguarde na linha.',
    back: 'Obrigado por aguardar.',
    unheardNote: '[A pessoa que ligou não ouviu a sua resposta. Dê-a agora.]',
    announcement: '',
    idleQuestion: 'Ainda está aí?',
    confirmQuestion: 'Quer que eu faça isso?',
    keysNote: '[A pessoa que ligou pressionou as teclas: {digits}]',
    returnLine: 'Desculpe, ninguém pôde atender a sua chamada. Em que mais posso ajudar?',
    operatorLost: 'Desculpe, a ligação com o meu colega caiu. Estou consigo de novo. Como posso ajudar?',
  },
  backchannels: listed(
    'sim|é|tá|tá bom|tá certo|está bem|está bom|ok|okay|okei|certo|claro|claro que sim|entendi|entendo|percebo|percebi|compreendo|compreendi|sei',
    'já sei|estou a ver|tô vendo|beleza|bom|muito bem|perfeito|exato|exatamente|isso|isso mesmo|pois|pois é|pois claro|com certeza|de acordo|ótimo',
    'legal|fixe|boa|verdade|é verdade|pronto|tudo bem|combinado|correto|faz sentido|uhum|aham|ahã|né|ah é|ah sim|que bom',
    'sem problema|sem problemas|não tem problema|não faz mal|nada mal|não há problema|pois não',
  ),
  nods: {
    core: spaced(
      'mesmo verdade interessante bom boa bem ótimo legal bacana fixe porreiro maravilha maravilhoso fantástico excelente incrível magnífico',
      'espetacular espetáculo perfeito perfeitamente certo certinho correto exato exatamente claro lógico útil prático gentil beleza show sério sei',
      'entendi entendo percebi percebo compreendo compreendi concordo imagino imaginava feliz contente alegria alívio razão sentido deus nossa',
      'caramba puxa sim tá ok okay combinado naturalmente obviamente certamente efetivamente totalmente absolutamente realmente verdadeiro sorte',
      'engraçado curioso impressionante surpreendente tranquilo parece uau ufa oba joia jóia fabuloso ideal fascinante notável encantador encantada',
      'aliviado pena simpático triste generoso atencioso emocionante excecional extraordinário bonito linda esquisito estranho completamente',
      'plenamente sinceramente provavelmente pensava achava justo emoção emocionado esperto inteligente astuto impressionado surpreso comovido grato',
      'satisfeito convencido lisonjeado esquecido ouvido reparado esperado pensado acreditado deduzido agradável prazer delicioso elegante fofo fofa',
      'encorajador promissor refrescante trágico absurdo louco doido notícias funciona sólido acertado hábil eba viva ai ui epa eita vixe poxa opa',
      'ora bah bolas irra fogo eia caraca credo cruzes parabéns felicitações tremendo brutal assombroso sensacional fenomenal soberbo sublime divino',
      'demais massa maneiro daora chocante bizarro hilário inacreditável inusitado inédito fenómeno giro',
    ),
    inflection: /[oae]?s?$/u,
    light: spaced(
      'obrigado obrigada isso ah oh ai eh é está isto aquilo o a um uma de do da me te muito tão então pois já também tudo tem toda todo você eu lá',
      'aí por mim para pra faz fico fiquei foi ser saber ouvir só olha agora ideia notícia meu minha vida senhora com gentileza nem estou sou era',
      'mais',
      'melhor',
      'ela ele nós eles vocês seria tinha tinham havia sido disseram disse se nos lhe os as uns dos das no na nas em ao menos bastante demais',
      'extremamente tanto tô estava estavam',
      'coisa coisas gesto plano escolha oferta história coincidência serviço solução',
    ),
    exclaiming: spaced('que quão'),
    inverting: [],
    wondering: listed(
      'é mesmo|ah é mesmo|ah é|sério|ah sério|a sério|sério mesmo|verdade|é verdade|de verdade|ah sim|jura|será',
    ),
    phrases: listed(
      'parece-me bem|parece-me ótimo|parece-me bom|já sei disso|sei disso|disso eu sei|o que eu pensava|não me diga|não sabia|eu não sabia',
      'não sabia disso|não fazia ideia|foi o que pensei|foi o que eu pensei|era o que eu pensava|eu imaginava|já imaginava|entendo o que quer dizer',
      'entendo o que você quer dizer|entendi o que quer dizer|ainda bem|graças a deus|de fato|de facto|sem dúvida|com razão|não admira|nada mau',
      'nada mal|problema nenhum|sem problema nenhum|sem problemas|de boa|meu deus|show de bola|olha só|pois é|pois claro|estou a ver|tô vendo',
      'tem razão|dá pra imaginar|posso imaginar|isso explica|isso explica tudo|estou ouvindo|estou a ouvir|estou acompanhando|estou aqui|gostei',
      'adorei|que surpresa|que sorte|não me admira|tanto melhor|anotado|eu bem dizia|melhor assim|ainda melhor',
      'não acredito|não posso acreditar|que pena|é uma pena|como eu pensava|como eu imaginava|já sabia|eu já sabia|quem diria|por mim tudo bem|era de esperar',
      'nem acredito|nem me fale|nem me diga|nem imagina|nem imaginava|nem sabia|nem diga|quem me dera|quem diria isso|não creio|não pode ser',
      'não dá pra acreditar|custa a acreditar|custa acreditar|custa-me a crer|a quem o dizes|a quem você diz|e eu que o diga|já desconfiava',
      'eu já desconfiava|bem que desconfiei|bem que eu desconfiava|bem me parecia|já me parecia|já calculava|já era hora|até que enfim|é a vida',
      'a vida é assim|fazer o quê|que se há de fazer|acontece|sei como é|sei bem como é|imagino como é|te entendo|entendo você',
      'compreendo perfeitamente|é compreensível|não esperava|não esperava por isso|por essa eu não esperava|com certeza|não há dúvida|pobrezinho',
      'pobrezinha|que nada|fico mais descansado|fico mais tranquilo|fico feliz por saber|me tranquiliza|isso me tranquiliza|e não é que',
      'tem toda razão|tem toda a razão',
      'que horrível|que terrível',
      'minha nossa|minha nossa senhora|minha mãe do céu',
    ),
    shapes: listed(
      'que *|que bela *|que belo *|que boa *|que bom *|que má *|mas que *|como é *|*íssimo|*íssima|é *íssimo|é *íssima|*zinho *|coitad*|tadinh*',
      'é *ante|é muito *|é tão *|é realmente *|tá muito *|parece *|parece muito *|soa *|pobre *|isso é muito *|isso é bem *|isso é *ante|é uma boa *',
      'puxa *|eita *|já desconfiava *|muito * isso|linda *|lindo *|bela *|belo *|ótima *|uau …|caramba …|poxa …|puxa …|eita …|meu deus …|credo …',
      'vixe …|caraca …|ufa …|nossa senhora …',
    ),
    telling: spaced(
      'hora horas dia dias número tipo cor preço tamanho data nome endereço morada modelo é são era faço fazer quer quero diz disse significa inclui',
      'preciso precisa tenho tem devo posso pode opções documentos horário horários plano tarifa rua cidade andar lugar banco mês ano mais menos',
      'conta vai vão custa falta vem código ônibus trem voo outra outro outras outros acha não nunca mal errado errada erro longe caro cara tarde',
      'cedo pouco pequeno grande longo curto urgente importante possível impossível disponível suficiente diferente seguinte pendente distante',
      'grátis quebrado fechado com sem para pra por em no na a ao de do da o os as um uma me te se lhe seu sua meu minha eu você ele ela amanhã',
      'ontem hoje agora depois antes segunda terça quarta quinta sexta sábado domingo mas e ou que favor devagar rápido fatura mãe filha irmã mulher',
      'esposa casa reserva senha encomenda vez restante avante bastante horrível terrível péssimo',
      'formulário seguro empresa companhia contrato assinatura link agência produto prazo valor pedido médico remédio versão pagamento envio cartão',
      'incluye serviço irmão pão avião verão botão',
    ),
  },
  goodbyes: listed(
    'tchau|tchau tchau|adeus|até logo|até mais|até já|até breve|até amanhã|obrigado|obrigada|muito obrigado|muito obrigada|obrigadão|valeu|falou',
    'igualmente|para você também|pra você também|para si também|bom dia|boa tarde|boa noite|tenha um bom dia|um bom dia|obrigado igualmente|eu que agradeço',
    'obrigado eu|de nada|abraço|ciao|bye',
  ),
  urgent: spaced(
    'não pare para parem espera espere aguarde alto stop chega que quê quem quando onde como qual porquê quanto desculpe perdão peraí calma',
  ),
  hesitations: spaced(
    'hum hã ãh eh éh éé ééé ahn hmm hm uhm e ou mas porém porque pois que o a os as um uma uns umas de do da dos das ao à aos às em no na nos nas',
    'num numa com por pelo pela pra pro para sem entre até desde meu minha meus minhas seu sua nosso nossa muito se tipo',
  ),
  doubtful: spaced(
    'então assim bem né isso este esta esse essa aquele aquela quando como qual é são sou eu também mais talvez tá bom não me te lhe',
  ),
  leadingEnd: undefined,
  begun: listed(
    'eu quero|eu queria|queria|gostaria|eu gostaria|gostaria de|eu preciso|preciso|preciso de|meu nome é|o meu nome é|me chamo|chamo-me|eu sou|o meu número é',
    'meu número é|eu tenho|estou|estou ligando|estou a ligar|pode|poderia|posso|você pode|tem como|acho que|eu acho|quer dizer|deixa eu',
    'por outro lado|por um lado|em primeiro lugar|por exemplo|para ser sincero|em outras palavras|no meu caso|se possível|o problema é|a questão é|e depois|e aí|como posso dizer|meu endereço é|a respeito de',
  ),
  openings: listed(
    'ahn|hã|ãh|então|tipo|olha|olhe|sabe|veja|veja bem|quer dizer|digamos|ora|ora bem|pois bem',
    'bom então|então assim|na verdade|é que|mas|me chamo|chamo-me|meu nome é|o meu nome é|meu número é|o meu número é',
  ),
  shortQuestions: listed(
    'até quando|até que horas|a partir de quando|desde quando|para quando|a que horas|com quem|para quem|de onde|para onde|por que não|que mais|quem mais|qual deles',
  ),
  thinking: listed(
    'deixa eu ver|deixa ver|deixe-me ver|deixe ver|deixa-me ver|deixa eu pensar|deixe-me pensar|deixa-me pensar|deixa eu olhar|deixa eu procurar|deixa eu checar|deixe-me verificar|vamos ver|vejamos|vou ver|vou verificar|vou olhar|vou procurar|um momento|um momento por favor|um momentinho',
    'um minuto|um minutinho|um segundo|um segundinho|um instante|só um momento|só um minuto|só um minutinho|só um segundo|só um instante|espera|espere|espera aí|espere aí|peraí|pera aí|pera|espera um pouco|espere um pouco|espera um momento|espere um momento|aguarde|aguarde um momento',
    'me dá um segundo|me dê um segundo|dê-me um segundo|dá-me um segundo|tenho que ver|tenho de ver|tenho que olhar|tenho que procurar|tenho de procurar|preciso ver|preciso olhar|preciso procurar|preciso pensar|estou procurando|estou à procura|estou olhando|estou pensando|estou a pensar|estou a ver',
    'como se diz|como é que se diz|boa pergunta|é uma boa pergunta',
    'deixa eu dar uma olhada|deixe eu ver|deixa eu lembrar|deixa eu conferir|como é que eu digo|como eu digo|como dizer|só um instantinho|um instantinho|espere um bocadinho|um bocadinho|só um bocadinho|deixe-me procurar|deixa-me procurar',
    'já volto|volto já|volto num instante',
  ),
  askingForTime: {
    moments: spaced(
      'momento momentinho minuto minutinho minutos segundo segundinho segundos instante instantinho bocadinho paciência desligue aguardar',
      'segundinhos instantinhos minutinhos momentinhos',
    ),
    granting: spaced(
      'pouco pouquinho um uma dois só mais me dê dá dê-me por favor pode não de espere espera tenha',
      'aguenta aguente aí segura segure',
    ),
    own: listed(
      'tenho que|tenho de|preciso|vou|estou|deixa eu|deixe-me|deixa-me|deixe eu|que|para|abro|procuro|pego',
      'desço|subo|ligo|só um instantinho que|um instante que|deixa eu só',
    ),
    looks: spaced(
      'procurar procurando procuro olhar olhando verificar verificando conferir checar confirmar achar encontrar buscar ver',
      'acho',
    ),
    takes: spaced(
      'pegar pegando pego abrir abrindo abro perguntar perguntando pergunto tirar apanhar trazer entrar acessar',
      'ligar ligo descer desço subir subo ir colocar vou',
    ),
    things: spaced(
      'cartão óculos caneta lápis papel passaporte carteira carta e-mail email correio app aplicativo aplicação identidade documento documentos rg fatura',
      'agenda calendário anotações notas envelope pasta mulher esposa marido chefe mãe pai filho filha colega tela ecrã recibo',
      'mesa computador notebook gaveta viva-voz andar lá cima embaixo',
    ),
    after: spaced('rápido rapidinho primeiro agora isso aqui já antes um pouco o a', 'ali na no em até eu'),
  },
  corrections: listed(
    'não desculpe|desculpe não|não desculpa|desculpa não|não perdão|não espera|quero dizer|não quero dizer|quis dizer|aliás|não aliás|ou melhor|melhor dizendo|não não',
  ),
  isLearned: false,
  numbers: {
    asked: String.raw`número|numero|localizador|referência|dígito|digito|algarismo|código|codigo|\bcep\b|\bcpf\b|\bnif\b|soletr|letra por letra|senha|correio eletr|e-?mail|placa|matrícula|\b(?:pin|iban)\b`,
    spelled: String.raw`soletr|letra por letra`,
    counted: 'dígitos|digitos|algarismos|números|caracteres|letras',
    values: spaced(
      'zero um/uma dois/duas três/tres quatro cinco seis/meia sete oito nove dez onze doze treze catorze/quatorze quinze dezesseis/dezasseis dezessete/dezassete dezoito dezenove/dezanove',
      'vinte vinte-e-um vinte-e-dois vinte-e-três vinte-e-quatro vinte-e-cinco vinte-e-seis vinte-e-sete vinte-e-oito vinte-e-nove trinta',
    ),
    digits: [],
    tens: spaced('quarenta cinquenta sessenta setenta oitenta noventa'),
    pairs: [],
    double: ['duplo'],
    triple: ['triplo'],
    between: spaced('e hífen traço menos ponto espaço depois hum eh barra'),
    mailAsked: 'e-?mail|correio eletr',
    joints: spaced('ponto hífen traço underline underscore sublinhado'),
    ats: spaced('arroba at'),
  },
  sentences: {
    abbreviations: spaced(
      'sr sra srs srta dr dra prof profa eng av tel ex núm nº pág etc cap art exmo exma r',
    ),
    lastAbbreviations: ['etc'],
    openers: spaced(
      'eu você o a os as nós eles ele ela um uma pode quer tem há e mas se para obrigado obrigada',
    ),
    leadsOn: spaced(
      'o a os as um uma uns umas e ou mas que de do da dos das em no na nos nas ao à com por pelo pela para pra seu sua meu minha é são se não muito mais',
    ),
    beforeOrdinal: [],
    afterOrdinal: [],
  },
  answers: {
    yes: listed(
      'sim|claro|claro que sim|com certeza|certo|ok|okay|okei|tá|tá bom|tá certo|está bem|está bom|está certo|pode|pode ser|pode sim|isso|isso mesmo|exato|exatamente',
      'correto|perfeito|de acordo|combinado|confirmo|confirmado|concordo|faça|faça isso|pode fazer|vá em frente|beleza|pois não|sem dúvida|é isso|afirmativo|por favor sim',
    ),
    no: listed(
      'não|nao|nunca|jamais|pare|espere|espera|aguarde|cancele|cancela|cancelar|errado|incorreto|deixe|deixa|esqueça|esquece|nem pensar|de jeito nenhum',
      'um momento|peraí|tampouco|desisto',
      'claro que não|com certeza não|certamente não|com certeza que não|obviamente não|naturalmente não|evidentemente não|é claro que não',
    ),
    firmYes: listed('sim|claro que sim|com certeza|sem dúvida'),
    // "Reserve-o" and "pode reservar" as well.
    order: new RegExp(
      `^(?:${orders})(?: |$)|^\\p{L}+(?:ar|er|ir)(?: |$)|^\\p{L}+[ae] (?:[oa]s?|me)(?: |$)`,
      'u',
    ),
    told: /(?:ando|endo|indo|ei|amos|emos|imos|ava|ia)$/u,
    accepts: listed(
      'seria ótimo|seria bom|seria muito bom|seria perfeito|seria maravilhoso|seria muito gentil|seria legal|por mim tudo bem|tudo bem|para mim está bem|pra mim tá bom',
      'com prazer|com todo o prazer|com todo o gosto|eu aceito|aceito|eu quero isso|quero isso|é o que eu quero|é isso que eu quero|eu concordo|estou de acordo',
      'tenho certeza|tenho a certeza|eu confirmo|boa ideia|ótima ideia|acho ótimo|parece bom|parece ótimo|me parece bem|parece-me bem|faça favor|se puder|se puder sim',
      'pode fazer isso|pode prosseguir|pode continuar|pode seguir|prossiga|siga em frente|vamos|vamos lá|vamos fazer isso|está perfeito|está ótimo|está correto|é verdade|é claro',
    ),
    wishes: listed('quero|eu quero|gostaria|eu gostaria|queria|eu queria|adoraria'),
    courtesies: listed(
      'para mim|pra mim|para nós|agora mesmo|já|obrigado pela ajuda|obrigada pela ajuda|oh|ah|hm|hmm|super',
      'hum|eh|bem|bom|então|olha|olhe|por favor|se faz favor|faz favor|obrigado|obrigada|muito obrigado|muito obrigada|senhor|senhora|senhorita|moça|moço',
      'muito gentil|muita gentileza|gentileza|ótimo|legal|excelente|maravilha|maravilhoso|muito bem|muito bom|que bom|boa',
    ),
    light: spaced('o a isso isto é eu que então sim assim aí lá'),
    tellers: spaced('meu minha meus minhas nós nosso nossa ele ela tenho tive estou fui tinha'),
    openers: spaced('os as um uma para pra em no na com de do da e também às ao por'),
    hedges: spaced(
      'mas se talvez acho penso creio suponho ou porém embora contudo antes depois primeiro só somente apenas outro outra diferente melhor mudar exceto menos',
      'que quê como qual quando porque quem onde quanto depende poderia ver repita repete explique explica minuto espero provavelmente sei entendo entendi percebo vejo ouço pergunta perguntar alô olá oi ainda aqui',
      'chamo sou falando caso invés',
    ),
    details: spaced(
      'dois duas três quatro cinco seis sete oito nove dez onze doze vinte trinta meia meio ambos hoje amanhã tarde noite manhã semana mês próximo próxima hora horas',
      'segunda terça quarta quinta sexta sábado domingo pessoas pessoa também',
    ),
    noRefusal: listed(
      'sem problema|sem problemas|não tem problema|não há problema|não faz mal|por que não|porque não|não me importo|se não se importa|não tenho objeção|pois não',
    ),
    undoing: [
      {
        tool: /(?:^| )(?:cancel|anul|desmarc)/u,
        said: listed(
          'cancele|cancela|cancelar|cancele isso|cancela isso|anule|anula|anular|desmarque|desmarca|desmarcar',
        ),
        clear: listed(
          'cancele-o|cancele-a|cancela-o|cancela-a|pode cancelar|pode anular|pode desmarcar|cancele por favor|por favor cancele|cancela por favor|por favor cancela|desmarque por favor',
        ),
      },
      {
        tool: /(?:^| )(?:stop|paus|interromp)/u,
        said: listed('pare|para|pare isso|parar|interrompa'),
        clear: listed('pode parar|pare-o|interrompa-o'),
      },
      {
        tool: /(?:^| )(?:delet|remov|eras|apag|excluir|elimin)/u,
        said: listed('apague|apaga|apagar|apague isso|exclua|exclui|excluir|elimine|elimina|remova|remove'),
        clear: listed(
          'apague-o|apague-a|pode apagar|pode excluir|pode remover|apague por favor|por favor apague|exclua por favor|por favor exclua',
        ),
      },
    ],
  },
};
