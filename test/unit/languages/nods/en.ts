import { listed } from '../../../../shared/base/listed.ts';

export const english = {
  nods: listed(
    "oh really|good to know|interesting|oh that's nice|oh wow|that's great|that's good|that's interesting|oh I see|ah okay then|well okay|very nice|oh good|oh great|oh cool",
    "oh that's good to know|that's good to hear|great to hear|nice to hear|glad to hear it|glad to hear that|happy to hear that|oh lovely|lovely|wonderful|oh wonderful|brilliant|awesome|amazing|fantastic",
    "excellent|super|sounds great|sounds nice|sounds lovely|sounds perfect|sounds fair|sounds right|that sounds good|that sounds great|that sounds about right|that works|that's fine|that's perfect|that's lovely",
    "that's awesome|that's amazing|that's wonderful|that's fantastic|that's cool|that's fair|that's true|that's correct|that's helpful|that's useful|very helpful|very interesting|really interesting|how interesting|how nice",
    "how lovely|oh dear|oh my|oh my god|oh gosh|my goodness|no way|no kidding|you don't say|is that so|is that right|oh is it|oh okay|okay good|okay great|okay cool|okay perfect|all good",
    'right okay|right right|yeah right|yeah sure|yeah of course|yes of course|yeah exactly|yes exactly|yeah totally|totally|absolutely right|true enough|fair point|good point|good idea|great idea',
    "makes total sense|that does make sense|I get it|I get that|I get you|I got you|I know|yeah I know|I know right|oh I know|I didn't know that|I thought so|I thought as much|I figured|I hear that|I understand that|I understand now|I see what you mean|I see now|I agree|I believe you",
    'understandable|of course yes|naturally|indeed|very well|quite right|quite so|well well|seriously|for real|thank goodness|thank god|what a relief|phew|nice one|not a problem|no problem at all|not bad at all',
  ),
  interruptions: listed(
    "stop|wait|hold on|hang on|no|no no no|no thanks|not that one|excuse me|sorry what|pardon|what was that|say that again|can you repeat that|repeat please|slower please|louder please|I can't hear you|what do you mean|what's that",
    'who is this|how much|how much is it|how long does it take|when is that|where is that|which one|why not|why is that|what time|on Friday|on Monday please|at seven|for four people|make it five|the blue one|the second one|the cheaper one|tomorrow instead|next week',
    "actually no|actually I changed my mind|I changed my mind|cancel it|cancel that|cancel my order|forget it|never mind|I don't want that|I don't need that|that's wrong|that's not right|that's not what I asked|that's not my name|you got it wrong|my name is Anna|it's Miller|no it's Smith|I meant Tuesday|I said fifteen",
    "can I ask something|can I speak to someone|let me speak to a human|give me an agent|connect me please|transfer me|I have a question|one question|quick question|another thing|but I already paid|but wait|but that's too late|but why|yes but not today|okay but how much|I need help|help me|I want a refund|I want to pay",
    "I'd like to book|I need a receipt|send it by email|call me back|call me later|go back|skip that|next please|start over|be quiet|shut up|listen to me|hello|are you there|do you have parking|is breakfast included|is it open now|does it cost extra|what about Sunday|how about six|too expensive|too late|too early",
    "two tickets|three nights|with a view|without onions|to Berlin|from the airport|by card|in cash|with my wife|the other address|it's broken|it doesn't work|I'm in a hurry|I have to go|I'm driving|I'm not finished|let me finish|I wasn't done",
  ),
};
